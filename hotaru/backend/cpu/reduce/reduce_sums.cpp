// The kernels of sums and products.
#include "hotaru/backend/cpu/reduce/reduce_kernels.h"

namespace hotaru::cpu {
namespace {

using namespace formulas;  // the list names them as they are

HOTARU_SUMS(HOTARU_REGISTER_REDUCTION)

}  // namespace
}  // namespace hotaru::cpu
