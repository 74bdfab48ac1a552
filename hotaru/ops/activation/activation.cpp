#include "hotaru/ops/activation/activation.h"

#include <cmath>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/activation/activation_grad.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

using Gradient = void (*)(const Tensor& out, const Tensor& self,
                          const Tensor& x, const PointwiseNumbers&);

/// An activation: its kernel, its gradient, and one of the result if there is
/// one, which spares the in-place variant a copy of what it overwrites.
struct Activation {
  elementwise::Spec spec;
  Gradient gradient;
  Gradient result_gradient;

  Activation(const char* name, Gradient gradient, Gradient of_result = nullptr)
      : spec{kernel(name)}, gradient(gradient), result_gradient(of_result) {}

  Tensor operator()(const Tensor& self, const PointwiseNumbers& n = {}) const {
    const Tensor out = elementwise::unary(spec, self, n);
    if (autograd::needs_grad(self)) gradient(out, self, self, n);
    return out;
  }
  Tensor in_place(const Tensor& self, const PointwiseNumbers& n = {}) const {
    const bool recorded = autograd::needs_grad(self);
    Tensor before;
    if (recorded && !result_gradient) before = clone(self);
    elementwise::unary_into(spec, self, self, n);
    if (recorded)
      (result_gradient ? result_gradient : gradient)(self, self, before, n);
    self.bump_version();
    return self;
  }
};

const Activation kLeakyRelu("leaky_relu", grads::leaky_relu,
                            grads::leaky_relu_result);
const Activation kElu("elu", grads::elu, grads::elu_result);
const Activation kCelu("elu", grads::celu, grads::celu_result);
const Activation kGelu("gelu", grads::gelu);
const Activation kGeluTanh("gelu_tanh", grads::gelu_tanh);
const Activation kSilu("silu", grads::silu);
const Activation kMish("mish", grads::mish);
const Activation kHardTanh("hardtanh", grads::hardtanh, grads::hardtanh_result);
const Activation kHardSigmoid("hardsigmoid", grads::hardsigmoid);
const Activation kHardSwish("hardswish", grads::hardswish);
const Activation kSoftplus("softplus", grads::softplus);
const Activation kSoftShrink("softshrink", grads::softshrink);
const Activation kHardShrink("hardshrink", grads::hardshrink);
const Activation kThreshold("threshold", grads::threshold);
const Activation kLogSigmoid("log_sigmoid", grads::log_sigmoid);

const Activation& gelu_kind(const std::string& approximate) {
  HOTARU_CHECK(approximate == "none" || approximate == "tanh",
               "approximate argument must be either none or tanh.");
  return approximate == "tanh" ? kGeluTanh : kGelu;
}

// Klambauer et al., Self-normalizing neural networks (arXiv:1706.02515).
const PointwiseNumbers kSelu{1.6732632423543772848170429916717,
                             1.0507009873554804934193349852946, 1.0};

PointwiseNumbers celu_numbers(const Scalar& alpha) {
  HOTARU_CHECK(alpha.to_double() != 0,
               "ZeroDivisionError: alpha cannot be 0 for CELU");
  return {alpha, 1.0, 1 / alpha.to_double()};
}

/// True if what self is limited to is not a number.
bool is_nan(const Scalar& limit, const Tensor& self) {
  return self.is_floating_point() && !limit.is_complex() &&
         std::isnan(limit.to_double());
}

PointwiseNumbers limits(const Tensor& self, const Scalar& lo,
                        const Scalar& hi) {
  HOTARU_CHECK(self.dtype() != DType::kBool,
               "Bool inputs not supported for hardtanh");
  if (is_integral(self.dtype()))
    for (const Scalar& limit : {lo, hi}) check_holds(DType::kInt64, limit);
  HOTARU_CHECK(self.dtype() != DType::kUInt8 ||
                   (lo.to_double() >= 0 && hi.to_double() >= 0),
               "cannot do hardtanh on an unsigned type with negative limits");
  for (const Scalar& limit : {lo, hi}) check_bound(self.dtype(), limit);
  return {lo, hi};
}

void check_threshold(const Tensor& self, const Scalar& threshold,
                     const Scalar& value) {
  check_holds(self.dtype(), threshold);
  check_bound(self.dtype(), value);
}

PointwiseNumbers shrink(const Scalar& lambd) {
  HOTARU_CHECK(lambd.to_double() >= 0,
               "lambda must be greater or equal to 0, but found to be ", lambd,
               ".");
  return {lambd};
}

}  // namespace

Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) {
  return kLeakyRelu(self, {negative_slope});
}
Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale,
           const Scalar& input_scale) {
  return kElu(self, {alpha, scale, input_scale});
}
Tensor gelu(const Tensor& self, const std::string& approximate) {
  return gelu_kind(approximate)(self);
}
Tensor silu(const Tensor& self) {
  if (self.is_complex()) return self * sigmoid(self);
  return kSilu(self);
}
Tensor mish(const Tensor& self) {
  return kMish(self);
}
Tensor hardtanh(const Tensor& self, const Scalar& min_val,
                const Scalar& max_val) {
  // The upper limit counts where they are in the wrong order.
  if (is_nan(min_val, self) || is_nan(max_val, self) ||
      min_val.to_double() > max_val.to_double())
    return clamp(self, min_val, max_val);
  return kHardTanh(self, limits(self, min_val, max_val));
}
Tensor hardsigmoid(const Tensor& self) {
  return kHardSigmoid(self);
}
Tensor hardswish(const Tensor& self) {
  return kHardSwish(self);
}
Tensor softplus(const Tensor& self, const Scalar& beta,
                const Scalar& threshold) {
  return kSoftplus(self, {beta, threshold});
}
Tensor softshrink(const Tensor& self, const Scalar& lambd) {
  return kSoftShrink(self, shrink(lambd));
}
Tensor hardshrink(const Tensor& self, const Scalar& lambd) {
  return kHardShrink(self, {lambd});
}
Tensor threshold(const Tensor& self, const Scalar& threshold,
                 const Scalar& value) {
  check_threshold(self, threshold, value);
  return kThreshold(self, {threshold, value});
}
Tensor log_sigmoid(const Tensor& self) {
  return kLogSigmoid(self);
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  static const elementwise::Spec spec{kernel("prelu")};
  HOTARU_CHECK(self.dtype() == weight.dtype(),
               "prelu: Type promoting not supported. Got ",
               dtype_name(self.dtype()), " and ", dtype_name(weight.dtype()));
  Tensor slope = weight;
  if (weight.numel() != 1) {
    HOTARU_CHECK(self.dim() > 0, "Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
    HOTARU_CHECK(channels == weight.numel(),
                 "Mismatch of parameter numbers and input channel size. Found "
                 "parameter numbers = ",
                 weight.numel(), " and channel size = ", channels, ".");
  }
  HOTARU_CHECK(weight.dim() <= 1,
               "prelu: Expected `weight` to be a scalar or 1D tensor, but "
               "got: ndim = ",
               weight.dim());
  if (self.dim() != weight.dim()) {
    Dims size(size_t(self.dim()), 1);
    if (self.dim() > 1) size[1] = weight.numel();
    slope = reshape(weight, size);
  }
  const Tensor out = elementwise::binary(spec, self, slope);
  if (autograd::needs_grad(self, slope)) grads::prelu(out, self, slope);
  return out;
}

Tensor glu(const Tensor& self, int64_t dim) {
  HOTARU_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t n = self.size(d);
  HOTARU_CHECK(n % 2 == 0, "Halving dimension must be even, but dimension ", d,
               " is size ", n);
  HOTARU_CHECK_AS(NotImplementedError, self.is_floating_point(),
                  "\"glu_cpu\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
  const auto halves = [d, n](const Tensor& x) {
    return std::pair{narrow(x, d, 0, n / 2), narrow(x, d, n / 2, n / 2)};
  };
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    const auto [values, gates] = halves(self);
    out = mul_(sigmoid(gates), values);
  }
  if (!autograd::needs_grad(self)) return out;
  autograd::record("GluBackward0", out, {self}, {self},
                   [=](autograd::Backward& b, const Tensor& g) -> Tensors {
                     const auto [values, gates] = halves(b.saved(0));
                     const Tensor open = sigmoid(gates), through = g * open;
                     Tensor shut = 1 - open;
                     // In place where nobody differentiates it again.
                     if (autograd::grad_enabled())
                       shut = shut * through * values;
                     else
                       mul_(mul_(shut, through), values);
                     return {cat({through, shut}, d)};
                   });
  return out;
}

namespace {

Tensor celu(const Tensor& self, const Scalar& alpha) {
  return kCelu(self, celu_numbers(alpha));
}
Tensor celu_(const Tensor& self, const Scalar& alpha) {
  return kCelu.in_place(self, celu_numbers(alpha));
}
Tensor selu(const Tensor& self) {
  return kElu(self, kSelu);
}
Tensor selu_(const Tensor& self) {
  return kElu.in_place(self, kSelu);
}
Tensor relu6(const Tensor& self) {
  return hardtanh(self, 0, 6);
}
Tensor leaky_relu_(const Tensor& self, const Scalar& slope) {
  HOTARU_CHECK(!autograd::needs_grad(self) || slope.to_double() >= 0,
               "In-place leakyReLu backward calculation is triggered with a "
               "negative slope which is not supported. This is caused by "
               "calling in-place forward function with a negative slope, "
               "please call out-of-place version instead.");
  return kLeakyRelu.in_place(self, {slope});
}
Tensor elu_(const Tensor& self, const Scalar& alpha, const Scalar& scale,
            const Scalar& input_scale) {
  HOTARU_CHECK(!autograd::needs_grad(self) || alpha.to_double() >= 0,
               "In-place elu backward calculation is triggered with a "
               "negative slope which is not supported. This is caused by "
               "calling in-place forward function with a negative slope, "
               "please call out-of-place version instead.");
  return kElu.in_place(self, {alpha, scale, input_scale});
}
Tensor gelu_(const Tensor& self, const std::string& approximate) {
  return gelu_kind(approximate).in_place(self);
}
Tensor hardtanh_(const Tensor& self, const Scalar& lo, const Scalar& hi) {
  if (is_nan(lo, self) || is_nan(hi, self))
    return in_place(self, [&](const Tensor& x) { return clamp(x, lo, hi); });
  return kHardTanh.in_place(self, limits(self, lo, hi));
}
Tensor relu6_(const Tensor& self) {
  return hardtanh_(self, 0, 6);
}
Tensor threshold_(const Tensor& self, const Scalar& t, const Scalar& value) {
  check_threshold(self, t, value);
  if (!repeats(self)) return kThreshold.in_place(self, {t, value});
  kThreshold.in_place(without_repeats(self), {t, value});
  return self;
}
Tensor silu_(const Tensor& self) {
  if (self.is_complex()) return in_place(self, silu);
  return kSilu.in_place(self);
}
template <const Activation& A>
Tensor plain_(const Tensor& self) {
  return A.in_place(self);
}

}  // namespace

HOTARU_OP("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
          leaky_relu);
HOTARU_OP(
    "leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)",
    leaky_relu_);
HOTARU_OP(
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) "
    "-> Tensor",
    elu);
HOTARU_OP(
    "elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, "
    "Scalar input_scale=1) -> Tensor(a!)",
    elu_);
HOTARU_OP("selu(Tensor self) -> Tensor", selu);
HOTARU_OP("selu_(Tensor(a!) self) -> Tensor(a!)", selu_);
HOTARU_OP("celu(Tensor self, Scalar alpha=1.0) -> Tensor", celu);
HOTARU_OP("celu_(Tensor(a!) self, Scalar alpha=1.0) -> Tensor(a!)", celu_);
HOTARU_OP("gelu(Tensor self, *, str approximate=\"none\") -> Tensor", gelu);
HOTARU_OP("gelu_(Tensor(a!) self, *, str approximate=\"none\") -> Tensor(a!)",
          gelu_);
HOTARU_OP("silu(Tensor self) -> Tensor", silu);
HOTARU_OP("silu_(Tensor(a!) self) -> Tensor(a!)", silu_);
HOTARU_OP("mish(Tensor self) -> Tensor", mish);
HOTARU_OP("mish_(Tensor(a!) self) -> Tensor(a!)", plain_<kMish>);
HOTARU_OP("relu6(Tensor self) -> Tensor", relu6);
HOTARU_OP("relu6_(Tensor(a!) self) -> Tensor(a!)", relu6_);
HOTARU_OP(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    hardtanh);
HOTARU_OP(
    "hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) "
    "-> Tensor(a!)",
    hardtanh_);
HOTARU_OP("hardsigmoid(Tensor self) -> Tensor", hardsigmoid);
HOTARU_OP("hardsigmoid_(Tensor(a!) self) -> Tensor(a!)", plain_<kHardSigmoid>);
HOTARU_OP("hardswish(Tensor self) -> Tensor", hardswish);
HOTARU_OP("hardswish_(Tensor(a!) self) -> Tensor(a!)", plain_<kHardSwish>);
HOTARU_OP("softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
          softplus);
HOTARU_OP("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", softshrink);
HOTARU_OP("hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", hardshrink);
HOTARU_OP("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
          threshold);
HOTARU_OP(
    "threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)",
    threshold_);
HOTARU_OP("log_sigmoid(Tensor self) -> Tensor", log_sigmoid);
HOTARU_OP("prelu(Tensor self, Tensor weight) -> Tensor", prelu);
HOTARU_OP("glu(Tensor self, int dim=-1) -> Tensor", glu);
}  // namespace hotaru
