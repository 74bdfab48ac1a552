// Losses of single elements.
#include "hotaru/ops/loss/loss.h"

#include <algorithm>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/loss/loss_grad.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

/// A formula of two tensors' difference, in their common dtype, which has to be
/// a real floating point one; no gradient.
Tensor of_difference(const char* op, const elementwise::Spec& spec,
                     const Tensor& self, const Tensor& target,
                     double border = 0) {
  const DType dtype = result_type({self, target});
  if (!is_floating_point(dtype)) refuse_dtype(op, dtype);
  return elementwise::binary(spec, to(self, dtype), to(target, dtype),
                             {Scalar(border)});
}

/// d^2 for the difference d, which 16-bit floats round before they square it.
Tensor squared_difference(const Tensor& self, const Tensor& target) {
  static const elementwise::Spec squared{kernel("squared_difference")};
  const DType dtype = result_type({self, target});
  if (itemsize(dtype) == 2 && is_floating_point(dtype))
    return square(to(self, dtype) - to(target, dtype));
  return of_difference("mse_cpu", squared, self, target);
}

/// m (|d| - m / 2) for the difference d, m = min(|d|, border).
Tensor huber(const char* op, const Tensor& self, const Tensor& target,
             double border) {
  static const elementwise::Spec spec{kernel("huber")};
  return of_difference(op, spec, self, target, border);
}

/// 0 within the quadratic part's borders.
Tensor sign_outside(const Tensor& d, double border) {
  return clamp(d / border, Scalar(-1.0), Scalar(1.0));
}

/// log(x), no less than -100.
Tensor limited_log(const Tensor& x) {
  return clamp(log(x), Scalar(-100.0), {});
}

/// Throws unless x and target lie in [0, 1]. On a queued stream that is found
/// late; the result then carries the error to whoever reads it.
void check_unit_interval(const Tensor& result, const Tensor& x,
                         const Tensor& target) {
  static const Kernel& check = kernel("binary_cross_entropy_check");
  autograd::NoGrad guard;
  const Tensor dense = contiguous(x), wanted = contiguous(target);
  enqueue(check, {update(result), read(dense), read(wanted)});
}

/// loss * weight, in loss's dtype.
Tensor weighted(const Tensor& loss, const Tensor& weight) {
  if (!weight.defined()) return loss;
  const Tensor out = loss * weight;
  check_can_cast(out.dtype(), loss.dtype());
  return to(out, loss.dtype());
}

}  // namespace

Tensor reduce_loss(const Tensor& loss, int64_t reduction) {
  if (reduction == kMean) return mean(loss);
  return reduction == kSum ? sum(loss) : loss;
}

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  Tensor out;
  {
    autograd::NoGrad guard;
    out = reduce_loss(squared_difference(self, target), reduction);
  }
  record_difference_loss(
      "MseLossBackward0", out, self, target, reduction,
      [](const Tensor& x, const Tensor& t) { return (x - t) * 2.0; });
  return out;
}

Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduce_loss(abs(self - target), reduction);
}

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target,
                      int64_t reduction, double beta) {
  HOTARU_CHECK(beta >= 0,
               "smooth_l1_loss does not support negative values for beta.");
  if (beta == 0) return l1_loss(self, target, reduction);
  Tensor out;
  {
    autograd::NoGrad guard;
    Tensor loss = huber("smooth_l1_cpu", self, target, beta);
    if (beta != 1) loss = loss / beta;
    out = reduce_loss(loss, reduction);
  }
  record_difference_loss("SmoothL1LossBackward0", out, self, target, reduction,
                         [beta](const Tensor& x, const Tensor& t) {
                           return sign_outside(x - t, beta);
                         });
  return out;
}

Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction,
                  double delta) {
  HOTARU_CHECK(delta > 0,
               "huber_loss does not support non-positive values for delta.");
  const DType common = result_type({self, target});
  check_can_cast(common, self.dtype());
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor loss = huber("huber_cpu", self, target, delta);
    out = reduce_loss(to(loss, self.dtype()), reduction);
  }
  record_difference_loss("HuberLossBackward0", out, self, target, reduction,
                         [delta](const Tensor& x, const Tensor& t) {
                           return sign_outside(x - t, delta) * delta;
                         });
  return out;
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target,
                            const Tensor& weight, int64_t reduction) {
  // Dimensions of size 1 do not count here, as in PyTorch: (N, 1) goes with
  // (N), which Python's function of the name refuses before.
  if (!std::ranges::equal(target.sizes(), self.sizes()) &&
      std::ranges::equal(squeeze(target).sizes(), squeeze(self).sizes()))
    return binary_cross_entropy(self, reshape(target, self.sizes()), weight,
                                reduction);
  check_found(target.dtype(), self.dtype());
  HOTARU_CHECK_AS(NotImplementedError, self.is_floating_point(),
                  "\"binary_cross_entropy\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
  check_constant("binary_cross_entropy", "weight", weight);
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor loss =
        (target - 1.0) * limited_log(1 - self) - target * limited_log(self);
    out = reduce_loss(weighted(loss, weight), reduction);
    check_unit_interval(out, self, target);
  }
  if (!autograd::needs_grad(self, target)) return out;
  autograd::record(
      "BinaryCrossEntropyBackward0", out, {self, target},
      {self, target, weight},
      [reduction](autograd::Backward& b, const Tensor& g) -> Tensors {
        const Tensor x = b.saved(0), t = b.saved(1), w = b.saved(2);
        Tensor grad = spread_loss_gradient(
            g, broadcast_shapes(x.sizes(), t.sizes()), reduction);
        if (w.defined()) grad = grad * w;
        Tensors out(2);
        if (b.needs(0)) {
          const Tensor room = clamp((1 - x) * x, Scalar(1e-12), {});
          out[0] = sum_to(grad * (x - t) / room, x.sizes());
          check_unit_interval(out[0], x, t);
        }
        if (b.needs(1)) {
          out[1] = sum_to(grad * (log(1 - x) - log(x)), t.sizes());
          check_unit_interval(out[1], x, t);
        }
        return out;
      });
  return out;
}

Tensor binary_cross_entropy_with_logits(const Tensor& self,
                                        const Tensor& target,
                                        const Tensor& weight,
                                        const Tensor& pos_weight,
                                        int64_t reduction) {
  check_floating("log_sigmoid_cpu", self);
  // PyTorch multiplies what is of target's dtype by self in place.
  check_can_cast(self.dtype(), target.dtype());
  // (1 - t) x - (1 + (p - 1) t) log(sigmoid(x))
  const auto value = [&] {
    const Tensor scale =
        pos_weight.defined() ? (pos_weight - 1.0) * target + 1.0 : Tensor();
    const Tensor loss =
        (1 - target) * self - weighted(log_sigmoid(self), scale);
    return reduce_loss(weighted(loss, weight), reduction);
  };
  Tensor out;
  {
    autograd::NoGrad guard;
    out = value();
  }
  if (!autograd::needs_grad(self, target) &&
      !(weight.defined() && autograd::needs_grad(weight)) &&
      !(pos_weight.defined() && autograd::needs_grad(pos_weight)))
    return out;
  autograd::record(
      "BinaryCrossEntropyWithLogitsBackward0", out,
      {self, target, weight, pos_weight}, {self, target, weight, pos_weight},
      [reduction](autograd::Backward& b, const Tensor& g) -> Tensors {
        const Tensor x = b.saved(0), t = b.saved(1);
        const Tensor w = b.saved(2), p = b.saved(3);
        Tensor grad = spread_loss_gradient(
            g, broadcast_shapes(x.sizes(), t.sizes()), reduction);
        Tensors out(4);
        if (b.needs(2)) {
          const Tensor scale = p.defined() ? (p - 1.0) * t + 1.0 : Tensor();
          const Tensor each = (1 - t) * x - weighted(log_sigmoid(x), scale);
          out[2] = sum_to(grad * each, w.sizes());
        }
        if (w.defined()) grad = grad * w;
        if (b.needs(3))
          out[3] = sum_to(-(grad * t * log_sigmoid(x)), p.sizes());
        if (b.needs(0)) {
          const Tensor s = sigmoid(x);
          const Tensor slope =
              p.defined() ? (p * t + 1.0 - t) * s - p * t : s - t;
          out[0] = sum_to(grad * slope, x.sizes());
        }
        if (b.needs(1)) {
          const Tensor slope =
              p.defined() ? p * log_sigmoid(x) - log_sigmoid(-x) : x;
          out[1] = sum_to(-(grad * slope), t.sizes());
        }
        return out;
      });
  return out;
}

Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction,
              bool log_target) {
  HOTARU_CHECK(!self.is_complex() && !target.is_complex(),
               "kl_div: Complex inputs not supported.");
  HOTARU_CHECK(
      is_differentiable(self.dtype()) && is_differentiable(target.dtype()),
      "kl_div: Integral inputs not supported.");
  const Tensor loss = log_target ? exp(target) * (target - self)
                                 : xlogy(target, target) - target * self;
  return reduce_loss(loss, reduction);
}

namespace {

Tensor soft_margin_loss(const Tensor& self, const Tensor& target,
                        int64_t reduction) {
  check_constant("soft_margin_loss", "target", target);
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor product = -self * target;
    const DType dtype = product.dtype();
    check_can_cast(is_differentiable(dtype) ? dtype : default_dtype(),
                   self.dtype());
    check_result_shape(self.sizes(), product.sizes());
    out = reduce_loss(to(log1p(exp(product)), self.dtype()), reduction);
  }
  if (!autograd::needs_grad(self)) return out;
  autograd::record(
      "SoftMarginLossBackward0", out, {self}, {self, target},
      [reduction](autograd::Backward& b, const Tensor& g) -> Tensors {
        const Tensor x = b.saved(0), t = b.saved(1);
        const Tensor grad = spread_loss_gradient(
            g, broadcast_shapes(x.sizes(), t.sizes()), reduction);
        return {sum_to(grad * (-t * sigmoid(-(t * x))), x.sizes())};
      });
  return out;
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        bool log_input, bool full, double eps,
                        int64_t reduction) {
  Tensor loss = log_input ? exp(input) - target * input
                          : input - target * log(input + eps);
  if (full) {
    // Stirling's formula for log(target!), above 1.
    const Tensor stirling =
        target * log(target) - target + log(target * 6.283185307179586) * 0.5;
    loss = loss + masked_fill(stirling, le(target, 1), 0);
  }
  return reduce_loss(loss, reduction);
}

}  // namespace

HOTARU_OP("mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
          mse_loss);
HOTARU_OP("l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
          l1_loss);
HOTARU_OP(
    "smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, "
    "float beta=1.0) -> Tensor",
    smooth_l1_loss);
HOTARU_OP(
    "huber_loss(Tensor self, Tensor target, int reduction=Mean, "
    "float delta=1.0) -> Tensor",
    huber_loss);
HOTARU_OP(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=Mean) -> Tensor",
    binary_cross_entropy);
HOTARU_OP(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, "
    "Tensor? weight=None, Tensor? pos_weight=None, int reduction=Mean) "
    "-> Tensor",
    binary_cross_entropy_with_logits);
HOTARU_OP(
    "kl_div(Tensor self, Tensor target, int reduction=Mean, *, "
    "bool log_target=False) -> Tensor",
    kl_div);
HOTARU_OP(
    "soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) "
    "-> Tensor",
    soft_margin_loss);
HOTARU_OP(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, "
    "float eps, int reduction) -> Tensor",
    poisson_nll_loss);

}  // namespace hotaru
