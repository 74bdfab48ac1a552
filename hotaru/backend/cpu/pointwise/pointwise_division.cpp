// Kernels with branches or library calls, which gain nothing from SIMD: one
// compilation for every processor.
#include <hwy/highway.h>

#include "hotaru/backend/common/pointwise/formulas.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

namespace hotaru::cpu {

static const bool registered_division = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  HOTARU_DIVISION(HOTARU_REGISTER_DENSE)
  return true;
}();

}  // namespace hotaru::cpu
