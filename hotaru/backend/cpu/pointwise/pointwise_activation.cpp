// The CPU's kernels of HOTARU_ACTIVATIONS.
#include "hotaru/backend/common/pointwise/formulas.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/pointwise/pointwise_activation.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/fused_math-inl.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

void register_activation() {
  using namespace formulas;
  HOTARU_ACTIVATIONS(HOTARU_REGISTER_DENSE)
  // In the place of the list's: most have one slope for all.
  pointwise<Prelu, FloatingTypes, 2>("prelu");
#if HWY_NATIVE_FMA
  pointwise<fused::Gelu, FloatingTypes, 1, Loops::kDense>("gelu");
  pointwise<fused::GeluGrad, FloatingTypes, 2, Loops::kDense>("gelu_grad");
  pointwise<fused::Elu, FloatingTypes, 1, Loops::kDense>("elu");
#endif
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(register_activation);
static const bool registered_activation =
    (HWY_DYNAMIC_DISPATCH(register_activation)(), true);
}  // namespace hotaru::cpu
#endif
