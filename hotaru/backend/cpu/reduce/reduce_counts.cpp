// The kernels of counts, any, all and extremes.
#include "hotaru/backend/cpu/reduce/reduce_kernels.h"

namespace hotaru::cpu {
namespace {

using namespace formulas;  // the list names them as they are

HOTARU_COUNTS_AND_EXTREMES(HOTARU_REGISTER_REDUCTION)

}  // namespace
}  // namespace hotaru::cpu
