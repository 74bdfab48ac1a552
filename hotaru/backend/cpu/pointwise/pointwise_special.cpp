// Special functions, element by element: one compilation for every processor.
#include <hwy/highway.h>

#include "hotaru/backend/common/pointwise/special.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

namespace hotaru::cpu {

static const bool registered_special = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  HOTARU_REGISTER_DENSE("special_unary", SpecialUnary, FloatingTypes, 1)
  HOTARU_REGISTER_DENSE("special_binary", SpecialBinary, FloatingTypes, 2)
  return true;
}();

}  // namespace hotaru::cpu
