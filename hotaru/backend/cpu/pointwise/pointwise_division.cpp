// Kernels with branches or library calls, which gain nothing from SIMD: one
// compilation for every processor.
#include <hwy/highway.h>

#include "hotaru/backend/common/pointwise/compare.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

namespace hotaru::cpu {

static const bool registered_division = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  pointwise<DivTrunc, RealTypes, 2>("div_trunc");
  pointwise<DivFloor, RealTypes, 2>("div_floor");
  pointwise<Remainder, RealTypes, 2>("remainder");
  pointwise<Fmod, RealTypes, 2>("fmod");
  pointwise<Pow, NumberTypes, 2>("pow");
  pointwise<Hypot, FloatingTypes, 2>("hypot");
  pointwise<Copysign, FloatingTypes, 2>("copysign");
  pointwise<Xlogy, FloatingTypes, 2>("xlogy");
  pointwise<Logaddexp, FloatingTypes, 2>("logaddexp");
  pointwise<Fmax, RealAndBoolTypes, 2>("fmax");
  pointwise<Fmin, RealAndBoolTypes, 2>("fmin");
  pointwise<ShiftLeft, IntTypes, 2>("bitwise_left_shift");
  pointwise<ShiftRight, IntTypes, 2>("bitwise_right_shift");
  return true;
}();

}  // namespace hotaru::cpu
