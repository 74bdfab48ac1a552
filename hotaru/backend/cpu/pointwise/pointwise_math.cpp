// The CPU's kernels of HOTARU_MATH.
#include "hotaru/backend/common/pointwise/formulas.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pointwise/pointwise_math.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/fused_math-inl.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

void register_math() {
  using namespace formulas;
  HOTARU_MATH(HOTARU_REGISTER_DENSE)
#if HWY_NATIVE_FMA
  // In the place of the list's
  pointwise<fused::Erf, FloatingTypes, 1, Loops::kDense>("erf");
  pointwise<fused::Erfc, FloatingTypes, 1, Loops::kDense>("erfc");
  pointwise<fused::Sin, FloatingAndComplexTypes, 1, Loops::kDense>("sin");
  pointwise<fused::Cos, FloatingAndComplexTypes, 1, Loops::kDense>("cos");
  pointwise<fused::Tan, FloatingAndComplexTypes, 1, Loops::kDense>("tan");
  pointwise<fused::Expm1, FloatingTypes, 1, Loops::kDense>("expm1");
  pointwise<fused::Log1p, FloatingTypes, 1, Loops::kDense>("log1p");
  pointwise<fused::Atan, FloatingAndComplexTypes, 1, Loops::kDense>("atan");
  pointwise<fused::Asin, FloatingAndComplexTypes, 1, Loops::kDense>("asin");
  pointwise<fused::Acos, FloatingAndComplexTypes, 1, Loops::kDense>("acos");
#endif
#if HWY_TARGET == HWY_AVX3
  pointwise<fused::Sqrt, FloatingAndComplexTypes, 1, Loops::kDense>("sqrt");
  pointwise<fused::Exp, FloatingAndComplexTypes, 1, Loops::kDense>("exp");
  pointwise<fused::Log, FloatingAndComplexTypes, 1, Loops::kDense>("log");
#endif
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(register_math);
static const bool registered_math =
    (HWY_DYNAMIC_DISPATCH(register_math)(), true);
}  // namespace hotaru::cpu
#endif
