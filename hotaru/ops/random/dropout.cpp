// Dropout in its variants: one Bernoulli draw an element or channel.
#include <cmath>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"

namespace hotaru {
namespace {

void check_probability(double p) {
  HOTARU_CHECK(p >= 0 && p <= 1,
               "dropout probability has to be between 0 and 1, but got ", p);
}

bool does_nothing(const Tensor& input, double p, bool train) {
  check_probability(p);
  return p == 0 || !train || input.numel() == 0;
}

/// Like the input, or one value a channel.
Tensor noise_for(const Tensor& input, bool feature) {
  if (!feature) return empty_like(input);
  HOTARU_CHECK(input.dim() >= 2,
               "Feature dropout requires at least 2 dimensions in the input");
  Dims shape(input.sizes());
  for (size_t d = 2; d < shape.size(); ++d) shape[d] = 1;
  return empty(shape, TensorOptions(input));
}

/// Factors: 0 or 1 / (1 - p). `fused`: drawn as a device draws it that drops
/// elements in one kernel.
Tensor scales(const Tensor& input, double p, bool feature, bool fused) {
  check_can_cast(DType::kFloat32, input.dtype());
  autograd::NoGrad guard;
  const Tensor noise = noise_for(input, feature);
  fused ? draw_kept_(noise, 1 - p, input) : bernoulli_(noise, 1 - p);
  return div(noise, Scalar(1 - p));
}

Tensor drop(const Tensor& input, double p, bool train, bool feature) {
  if (does_nothing(input, p, train)) return input;
  if (p == 1) return mul(input, zeros(Dims{}, TensorOptions(input)));
  return mul(input, scales(input, p, feature, !feature));
}

Tensor drop_(const Tensor& self, double p, bool train, bool feature) {
  if (does_nothing(self, p, train)) return self;
  if (p == 1) return mul_(self, zeros(Dims{}, TensorOptions(self)));
  return mul_(self, scales(self, p, feature, false));
}

/// Dropped elements get SELU's negative saturation value; a and b restore mean
/// 0 and variance 1.
struct Alpha {
  Tensor scale, shift;
};
Alpha alpha_noise(const Tensor& input, double p, bool feature) {
  constexpr double kAlpha = 1.7580993408473766;
  autograd::NoGrad guard;
  const double a = 1.0 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Tensor noise = bernoulli_(noise_for(input, feature), 1 - p);
  const Tensor shift = add(mul(add(noise, Scalar(-1)), Scalar(kAlpha * a)),
                           Scalar(kAlpha * a * p));
  return {mul(noise, Scalar(a)), shift};
}

Tensor alpha_drop(const Tensor& input, double p, bool train, bool feature) {
  if (does_nothing(input, p, train)) return input;
  if (p == 1) return mul(input, zeros(Dims{}, TensorOptions(input)));
  const Alpha noise = alpha_noise(input, p, feature);
  return add(mul(input, noise.scale), noise.shift);
}

Tensor alpha_drop_(const Tensor& self, double p, bool train, bool feature) {
  if (does_nothing(self, p, train)) return self;
  if (p == 1) return mul_(self, zeros(Dims{}, TensorOptions(self)));
  const Alpha noise = alpha_noise(self, p, feature);
  return add_(mul_(self, noise.scale), noise.shift);
}

/// The variant that also gives the mask of what was kept.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          Optional<bool> train) {
  check_probability(p);
  const bool active = train.value_or(true) && input.numel() > 0;
  const double scale = !active ? 1.0 : p == 1 ? 0.0 : 1.0 / (1.0 - p);
  Tensor mask, out;
  {
    autograd::NoGrad guard;
    // With the input's strides, along which the draws go.
    mask = empty_like(input, DType::kBool, {}, {});
    mask = active ? draw_kept_(mask, 1 - p, input) : fill_(mask, Scalar(true));
    out = mul(mul(input, mask), Scalar(scale));
  }
  if (autograd::needs_grad(input))
    autograd::record(
        "NativeDropoutBackward0", {out, mask}, {input}, {mask},
        [scale](autograd::Backward& b, const Tensors& grads) -> Tensors {
          if (!grads[0].defined()) return {Tensor()};
          return {mul(mul(grads[0], b.saved(0)), Scalar(scale))};
        });
  return {out, mask};
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  return drop(input, p, train, false);
}
Tensor dropout_(const Tensor& self, double p, bool train) {
  return drop_(self, p, train, false);
}
Tensor feature_dropout(const Tensor& input, double p, bool train) {
  return drop(input, p, train, true);
}
Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  return alpha_drop(input, p, train, false);
}

namespace {

using Drop = Tensor (*)(const Tensor&, double, bool, bool);
template <Drop F, bool kFeature>
Tensor variant(const Tensor& input, double p, bool train) {
  return F(input, p, train, kFeature);
}

HOTARU_OP("dropout(Tensor input, float p, bool train) -> Tensor", dropout);
HOTARU_OP("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
          dropout_);
HOTARU_OP("feature_dropout(Tensor input, float p, bool train) -> Tensor",
          variant<drop, true>);
HOTARU_OP(
    "feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
    variant<drop_, true>);
HOTARU_OP("alpha_dropout(Tensor input, float p, bool train) -> Tensor",
          variant<alpha_drop, false>);
HOTARU_OP("alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
          variant<alpha_drop_, false>);
HOTARU_OP("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
          variant<alpha_drop, true>);
HOTARU_OP(
    "feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> "
    "Tensor(a!)",
    variant<alpha_drop_, true>);
HOTARU_OP(
    "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> "
    "Tensor",
    +[](const Tensor& grad, const Tensor& mask, double scale) {
      return mul(grad, mul(to(mask, grad.dtype()), Scalar(scale)));
    });
HOTARU_OP(
    "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    native_dropout);

}  // namespace
}  // namespace hotaru
