// The CPU's kernels of formulas/math.h whose loops vectorise.
#include "hotaru/backend/common/pointwise/math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pointwise/pointwise_math.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

void register_math() {
  using namespace formulas;
  pointwise<Neg, NumberTypes, 1>("neg");
  pointwise<Abs, NumberTypes, 1>("abs");
  pointwise<Sign, NumberTypes, 1>("sign");
  pointwise<Relu, RealTypes, 1>("relu");
  pointwise<Sqrt, FloatingAndComplexTypes, 1>("sqrt");
  pointwise<Rsqrt, FloatingAndComplexTypes, 1>("rsqrt");
  pointwise<Reciprocal, FloatingAndComplexTypes, 1>("reciprocal");
  pointwise<Exp, FloatingAndComplexTypes, 1>("exp");
  pointwise<Log, FloatingAndComplexTypes, 1>("log");
  pointwise<Expm1, FloatingTypes, 1>("expm1");
  pointwise<Log1p, FloatingTypes, 1>("log1p");
  pointwise<Erf, FloatingTypes, 1>("erf");
  pointwise<Sin, FloatingAndComplexTypes, 1>("sin");
  pointwise<Cos, FloatingAndComplexTypes, 1>("cos");
  pointwise<Atan, FloatingAndComplexTypes, 1>("atan");
  pointwise<Tanh, FloatingAndComplexTypes, 1>("tanh");
  pointwise<Sigmoid, FloatingAndComplexTypes, 1>("sigmoid");
  pointwise<Floor, FloatingTypes, 1>("floor");
  pointwise<Ceil, FloatingTypes, 1>("ceil");
  pointwise<Round, FloatingTypes, 1>("round");
  pointwise<Trunc, FloatingTypes, 1>("trunc");
  pointwise<Frac, FloatingTypes, 1>("frac");
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
