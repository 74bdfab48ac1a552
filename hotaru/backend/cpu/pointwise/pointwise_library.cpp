// Elementary functions taken from the C library, element by element: one
// compilation for every processor.
#include <hwy/highway.h>

#include "hotaru/backend/common/pointwise/formulas.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

namespace hotaru::cpu {

static const bool registered_library = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  HOTARU_LIBRARY(HOTARU_REGISTER_DENSE)
  return true;
}();

}  // namespace hotaru::cpu
