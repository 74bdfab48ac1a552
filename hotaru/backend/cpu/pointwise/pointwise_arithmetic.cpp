// The CPU's kernels of formulas/arithmetic.h.
#include "hotaru/backend/common/pointwise/arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/pointwise/pointwise_arithmetic.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

void register_arithmetic() {
  using namespace formulas;
  pointwise<Add, AllTypes, 2>("add");
  pointwise<Mul, AllTypes, 2>("mul");
  pointwise<Div, FloatingAndComplexTypes, 2>("div");
  pointwise<Atan2, FloatingTypes, 2>("atan2");
  pointwise<Maximum, RealAndBoolTypes, 2>("maximum");
  pointwise<Minimum, RealAndBoolTypes, 2>("minimum");
  pointwise<Clamp, RealTypes, 1>("clamp");
  pointwise<ClampMin, RealTypes, 1>("clamp_min");
  pointwise<ClampMax, RealTypes, 1>("clamp_max");
  pointwise<Lerp, FloatingAndComplexTypes, 3>("lerp");
  pointwise<Addcmul, NumberTypes, 3>("addcmul");
  pointwise<Addcdiv, FloatingAndComplexTypes, 3>("addcdiv");
  pointwise<PowScalar, NumberTypes, 1>("pow_scalar");
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(register_arithmetic);
static const bool registered_arithmetic =
    (HWY_DYNAMIC_DISPATCH(register_arithmetic)(), true);
}  // namespace hotaru::cpu
#endif
