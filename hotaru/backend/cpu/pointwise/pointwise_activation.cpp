// The CPU's kernels of formulas/activation.h.
#include "hotaru/backend/common/pointwise/activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/pointwise/pointwise_activation.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

void register_activation() {
  using namespace formulas;
  pointwise<Silu, FloatingTypes, 1>("silu");
  pointwise<Gelu, FloatingTypes, 1>("gelu");
  pointwise<GeluTanh, FloatingTypes, 1>("gelu_tanh");
  pointwise<Mish, FloatingTypes, 1>("mish");
  pointwise<HardSigmoid, FloatingTypes, 1>("hardsigmoid");
  pointwise<HardSwish, FloatingTypes, 1>("hardswish");
  pointwise<LogSigmoid, FloatingTypes, 1>("log_sigmoid");
  pointwise<LeakyRelu, FloatingTypes, 1>("leaky_relu");
  pointwise<Elu, FloatingTypes, 1>("elu");
  pointwise<HardTanh, RealTypes, 1>("hardtanh");
  pointwise<Softplus, FloatingTypes, 1>("softplus");
  pointwise<SoftShrink, FloatingTypes, 1>("softshrink");
  pointwise<HardShrink, FloatingTypes, 1>("hardshrink");
  pointwise<Threshold, RealTypes, 1>("threshold");
  pointwise<Prelu, FloatingTypes, 2>("prelu");
  pointwise<LeakyReluGrad, FloatingTypes, 2>("leaky_relu_grad");
  pointwise<EluGrad, FloatingTypes, 2>("elu_grad");
  pointwise<EluResultGrad, FloatingTypes, 2>("elu_result_grad");
  pointwise<GeluTanhGrad, FloatingTypes, 2>("gelu_tanh_grad");
  pointwise<MishGrad, FloatingTypes, 2>("mish_grad");
  pointwise<HardTanhGrad, FloatingTypes, 2>("hardtanh_grad");
  pointwise<SoftplusGrad, FloatingTypes, 2>("softplus_grad");
  pointwise<ShrinkGrad, FloatingTypes, 2>("shrink_grad");
  pointwise<ThresholdGrad, FloatingTypes, 2>("threshold_grad");
  pointwise<HardSigmoidGrad, FloatingTypes, 2>("hardsigmoid_grad");
  pointwise<HardSwishGrad, FloatingTypes, 2>("hardswish_grad");
  pointwise<LogSigmoidGrad, FloatingTypes, 2>("log_sigmoid_grad");
  pointwise<SiluGrad, FloatingTypes, 2>("silu_grad");
  pointwise<GeluGrad, FloatingTypes, 2>("gelu_grad");
  pointwise<SigmoidGrad, FloatingTypes, 2>("sigmoid_grad");
  pointwise<TanhGrad, FloatingTypes, 2>("tanh_grad");
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
