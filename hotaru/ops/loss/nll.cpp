// Losses of classification.
#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/loss/loss.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/loss/loss.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

void check(const Tensor& self, const Tensor& target, const Tensor& weight) {
  HOTARU_CHECK(
      target.dtype() == DType::kInt64 || target.dtype() == DType::kUInt8,
      "expected target dtype to be Long or Byte, but got ",
      scalar_type_name(target.dtype()));
  const int64_t classes = self.dim() == 1 ? self.size(0) : self.size(1);
  HOTARU_CHECK(
      !weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
      "weight tensor should be defined either for all ", classes,
      " classes or no classes but got weight tensor of shape: ",
      shape_text(weight.defined() ? weight.sizes() : IntSpan{}));
  if (weight.defined()) check_operand(self.dtype(), weight.dtype());
}

/// Sizes of the target that fits `self`.
Dims target_size(const Tensor& self) {
  Dims out;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.dim() > 1 && d != 1) out.push_back(self.size(d));
  return out;
}

Tensor gradient(const NllAttributes& a, const Tensor& g, const Tensor& self,
                const Tensor& target, const Tensor& weight,
                const Tensor& total) {
  static const Kernel& grad_kernel = kernel("nll_loss_grad");
  const Tensor gx = allocate(self.sizes(), self.dtype(), self.device());
  const Tensor grad = contiguous(g);
  enqueue(grad_kernel,
          {write(gx), read(grad), read(target), read(weight), read(total)}, a);
  return gx;
}

std::tuple<Tensor, Tensor> nll_forward(bool two_dimensional, const Tensor& self,
                                       const Tensor& target,
                                       const Tensor& weight, int64_t reduction,
                                       int64_t ignore_index) {
  static const Kernel& loss = kernel("nll_loss");
  check(self, target, weight);
  check_constant(two_dimensional ? "nll_loss2d_forward" : "nll_loss_forward",
                 "weight", weight);
  NllAttributes a;
  a.reduction = reduction;
  a.ignore_index = ignore_index;
  if (self.dim() == 1) {
    a.classes = self.size(0);
  } else {
    a.n = self.size(0);
    a.classes = self.size(1);
    a.space = numel_of(self.sizes().subspan(2));
  }
  const Dims size = reduction == kNoReduction ? target_size(self) : Dims{};
  const Tensor out = allocate(size, self.dtype(), self.device());
  const Tensor total = allocate(Dims{}, self.dtype(), self.device());
  const Tensor classes = contiguous(target);
  Tensor scale;
  {
    autograd::NoGrad guard;
    const Tensor x = contiguous(self);
    if (weight.defined()) scale = contiguous(weight);
    enqueue(loss,
            {write(out), write(total), read(x), read(classes), read(scale)}, a);
  }
  if (autograd::needs_grad(self))
    autograd::record(
        two_dimensional ? "NllLoss2DBackward0" : "NllLossBackward0", out,
        {self}, {self, classes, scale, total},
        [a](autograd::Backward& b, const Tensor& g) -> Tensors {
          const Tensor x = b.saved(0);
          const auto of = [&](const Tensor& grad) {
            return gradient(a, grad, x, b.saved(1), b.saved(2), b.saved(3));
          };
          if (!autograd::grad_enabled()) return {of(g)};
          // Linear in g: its coefficients times g can be differentiated.
          Tensor factors;
          {
            autograd::NoGrad guard;
            factors = of(ones_like(g));
          }
          const bool each = a.reduction == kNoReduction && x.dim() > 1;
          return {flat_in(b, factors * (each ? unsqueeze(g, 1) : g))};
        });
  return {out, total};
}

std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self,
                                            const Tensor& target,
                                            const Tensor& weight,
                                            int64_t reduction,
                                            int64_t ignore_index) {
  HOTARU_CHECK(self.dim() == 1 || self.dim() == 2,
               "input tensor should be 1D or 2D");
  HOTARU_CHECK(target.dim() <= 1,
               "0D or 1D target tensor expected, multi-target not supported");
  HOTARU_CHECK(self.dim() == 1
                   ? target.numel() == 1
                   : target.dim() == 1 && target.size(0) == self.size(0),
               "size mismatch (got input: ", shape_text(self.sizes()),
               ", target: ", shape_text(target.sizes()), ")");
  return nll_forward(false, self, target, weight, reduction, ignore_index);
}

std::tuple<Tensor, Tensor> nll_loss2d_forward(const Tensor& self,
                                              const Tensor& target,
                                              const Tensor& weight,
                                              int64_t reduction,
                                              int64_t ignore_index) {
  HOTARU_CHECK(self.dim() == 4,
               "only batches of spatial inputs supported (4D tensors), but "
               "got input of size: ",
               shape_text(self.sizes()));
  HOTARU_CHECK(target.dim() == 3,
               "only batches of spatial targets supported (3D tensors) but "
               "got targets of dimension: ",
               target.dim());
  HOTARU_CHECK(same(target_size(self), target.sizes()),
               "size mismatch (got input: ", shape_text(self.sizes()),
               " , target: ", shape_text(target.sizes()));
  return nll_forward(true, self, target, weight, reduction, ignore_index);
}

Tensor nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight,
                int64_t reduction, int64_t ignore_index) {
  return std::get<0>(
      nll_loss_forward(self, target, weight, reduction, ignore_index));
}
Tensor nll_loss2d(const Tensor& self, const Tensor& target,
                  const Tensor& weight, int64_t reduction,
                  int64_t ignore_index) {
  return std::get<0>(
      nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}

}  // namespace

Tensor nll_loss_nd(const Tensor& self, const Tensor& target,
                   const Tensor& weight, int64_t reduction,
                   int64_t ignore_index) {
  HOTARU_CHECK_AS(ValueError, self.dim() >= 1,
                  "Expected 1 or more dimensions (got ", self.dim(), ")");
  HOTARU_CHECK_AS(
      ValueError,
      self.dim() == 1 || (target.dim() > 0 && self.size(0) == target.size(0)),
      "Expected input batch_size (", self.size(0),
      ") to match target batch_size (", target.dim() > 0 ? target.size(0) : 1,
      ").");
  HOTARU_CHECK_AS(ValueError,
                  self.dim() != 1 || target.dim() != 1 || target.numel() == 1,
                  "For 1D input, 1D target must have size 1, but got target "
                  "size: ",
                  target.numel());
  if (self.dim() <= 2)
    return nll_loss(self, target, weight, reduction, ignore_index);
  if (self.dim() == 4)
    return nll_loss2d(self, target, weight, reduction, ignore_index);
  const Dims size = target_size(self);
  HOTARU_CHECK(same(size, target.sizes()), "Expected target size ",
               shape_text(size), ", got ", shape_text(target.sizes()));
  return std::get<0>(
      nll_forward(true, self, target, weight, reduction, ignore_index));
}

namespace {

Tensor channel_weight(const Tensor& weight, const Tensor& self,
                      int64_t class_dim) {
  Dims size(size_t(self.dim()), 1);
  size[size_t(class_dim)] = weight.numel();
  return view(contiguous(weight), size);
}

/// The target is a distribution over the classes.
Tensor with_probabilities(const Tensor& self, Tensor target,
                          const Tensor& weight, int64_t reduction,
                          double smoothing) {
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const int64_t classes = self.size(class_dim);
  HOTARU_CHECK(
      !weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
      "cross_entropy: weight tensor should be defined either for "
      "all ",
      classes,
      " classes or no classes but got weight tensor "
      "of shape: ",
      shape_text(weight.defined() ? weight.sizes() : IntSpan{}));
  const Tensor logs = log_softmax(self, class_dim);
  if (smoothing > 0)
    target = target * (1 - smoothing) + smoothing / double(classes);
  Tensor product = logs * target;
  if (weight.defined())
    product = product * channel_weight(weight, self, class_dim);
  if (reduction == kNoReduction) return -sum(product, Dims{class_dim});
  const Tensor total = -sum(product);
  if (reduction == kSum) return total;
  return total / (double(self.numel()) / double(std::max<int64_t>(classes, 1)));
}

Tensor smoothed(const Tensor& self, const Tensor& target, const Tensor& weight,
                int64_t reduction, int64_t ignore_index, double smoothing) {
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const int64_t classes = self.size(class_dim);
  const Tensor logs = log_softmax(self, class_dim);
  const Tensor nll = nll_loss_nd(logs, target, weight, reduction, ignore_index);
  const Tensor weighted =
      weight.defined() ? logs * channel_weight(weight, self, class_dim) : logs;
  const Tensor ignored = eq(target, ignore_index);
  const Tensor even = masked_fill(-sum(weighted, Dims{class_dim}), ignored, 0);
  Tensor part = even;
  if (reduction == kSum) {
    part = sum(even);
  } else if (reduction == kMean) {
    const Tensor counted = logical_not(ignored);
    Tensor count = sum(to(counted, self.dtype()));
    if (weight.defined()) {
      const Tensor valid = masked_fill(to(target, DType::kInt64), ignored, 0);
      const Tensor each =
          reshape(gather(weight, 0, reshape(valid, Dims{-1})), target.sizes());
      count = sum(masked_fill(each, ignored, 0));
    }
    part = sum(even) / count;
  }
  return nll * (1 - smoothing) + part * (smoothing / double(classes));
}

}  // namespace

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                          const Tensor& weight, int64_t reduction,
                          int64_t ignore_index, double label_smoothing) {
  HOTARU_CHECK(
      label_smoothing >= 0 && label_smoothing <= 1,
      "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (same(self.sizes(), target.sizes())) {
    HOTARU_CHECK(target.is_floating_point(),
                 "Expected floating point type for target with class "
                 "probabilities, got ",
                 scalar_type_name(target.dtype()));
    HOTARU_CHECK(ignore_index < 0,
                 "ignore_index is not supported for floating point target");
    return with_probabilities(self, target, weight, reduction, label_smoothing);
  }
  HOTARU_CHECK(self.dim() > 0,
               "cross_entropy: expected input of at least 1 dimension");
  if (label_smoothing > 0)
    return smoothed(self, target, weight, reduction, ignore_index,
                    label_smoothing);
  return nll_loss_nd(log_softmax(self, self.dim() == 1 ? 0 : 1), target, weight,
                     reduction, ignore_index);
}

HOTARU_OP(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=Mean, int ignore_index=-100) -> Tensor",
    nll_loss);
HOTARU_OP(
    "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, "
    "int reduction, int ignore_index) -> (Tensor, Tensor)",
    nll_loss_forward);
HOTARU_OP(
    "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=Mean, int ignore_index=-100) -> Tensor",
    nll_loss2d);
HOTARU_OP(
    "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, "
    "int reduction, int ignore_index) -> (Tensor, Tensor)",
    nll_loss2d_forward);
HOTARU_OP(
    "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=Mean, int ignore_index=-100) -> Tensor",
    nll_loss_nd);
HOTARU_OP(
    "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=Mean, int ignore_index=-100, float label_smoothing=0.0) "
    "-> Tensor",
    cross_entropy_loss);

}  // namespace hotaru
