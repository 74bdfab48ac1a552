// The kernels of norms.
#include "hotaru/backend/cpu/reduce/reduce_kernels.h"

namespace hotaru::cpu {
namespace {

using namespace formulas;  // the list names them as they are

HOTARU_NORMS(HOTARU_REGISTER_REDUCTION)

}  // namespace
}  // namespace hotaru::cpu
