// Margin losses over several classes.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/loss/loss.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// `kernel` is PyTorch's, which is there for float32 and float64 only.
void check_input(const char* kernel, const Tensor& self) {
  const bool empty = self.dim() == 2 ? self.size(1) == 0 : self.numel() == 0;
  HOTARU_CHECK(self.dim() <= 2 && !empty,
               "Expected non-empty vector or matrix with optional 0-dim batch "
               "size, but got: ",
               shape_text(self.sizes()));
  if (self.dtype() != DType::kFloat32 && self.dtype() != DType::kFloat64)
    refuse_dtype(kernel, self.dtype());
}

/// [1, classes]: the number of each class.
Tensor class_numbers(const Tensor& x) {
  return unsqueeze(arange(0, x.size(1), 1, {DType::kInt64, x.device()}), 0);
}

/// Reduces one loss a sample; without a batch there is one. These two losses of
/// no samples are 0, also on average.
Tensor reduce_samples(const Tensor& loss, const Tensor& self,
                      int64_t reduction) {
  if (reduction == kNoReduction && self.dim() < 2) return squeeze(loss, 0);
  const bool none = reduction != kNoReduction && loss.numel() == 0;
  return none ? sum(loss) : reduce_loss(loss, reduction);
}

/// sum over i != y of max(0, margin - x[y] + x[i])^p / classes, times the
/// weight of y.
Tensor multi_margin_loss(const Tensor& self, const Tensor& target,
                         const Scalar& p, const Scalar& margin,
                         const Tensor& weight, int64_t reduction) {
  check_input("multi_margin_loss_cpu_kernel", self);
  const bool squared = p == Scalar(2);
  HOTARU_CHECK_AS(ValueError, squared || p == Scalar(1),
                  "only p == 1 and p == 2 supported");
  const Tensor x = self.dim() == 2 ? self : reshape(self, Dims{1, -1});
  HOTARU_CHECK(target.dim() <= 1 && target.numel() == x.size(0),
               "multi_margin_loss: target tensor should be 1-D with size "
               "equal to the number of input samples (batch size). Expected "
               "target size [",
               x.size(0), "], but got ", shape_text(target.sizes()),
               ". Input has shape ", shape_text(self.sizes()), ".");
  if (weight.defined())
    HOTARU_CHECK(weight.dim() == 1 && weight.numel() == x.size(1),
                 "inconsistent weight size, expected ", x.size(1), " but got ",
                 shape_text(weight.sizes()));
  check_operand(DType::kInt64, target.dtype());
  const Tensor y = reshape(target, Dims{-1, 1});
  const Tensor gaps = relu(x - gather(x, 1, y) + margin);
  Tensor terms =
      masked_fill(squared ? gaps * gaps : gaps, eq(y, class_numbers(x)), 0);
  if (weight.defined()) {
    HOTARU_CHECK(weight.dim() == 1 && weight.numel() == x.size(1),
                 "inconsistent weight size, expected ", x.size(1), " but got ",
                 shape_text(weight.sizes()));
    terms = terms * unsqueeze(gather(weight, 0, squeeze(y, 1)), 1);
  }
  const Tensor loss = sum(terms, Dims{1}) / double(x.size(1));
  if (reduction == kNoReduction) return reshape(loss, target.sizes());
  return reduce_samples(loss, x, reduction);
}

/// sum over the targets y and the classes i that are no target of
/// max(0, 1 - x[y] + x[i]) / classes; the first -1 ends a sample's targets.
Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target,
                              int64_t reduction) {
  check_input("multilabel_margin_loss_forward_out_frame", self);
  HOTARU_CHECK(same(self.sizes(), target.sizes()),
               "inconsistent target size: ", shape_text(target.sizes()),
               " for input of size: ", shape_text(self.sizes()));
  const bool batched = self.dim() == 2;
  const Tensor x = batched ? self : reshape(self, Dims{1, -1});
  const Tensor y = batched ? target : reshape(target, Dims{1, -1});
  const Tensor ended = gt(cumsum(to(lt(y, 0), DType::kInt64), 1), 0);
  const Tensor classes = clamp(y, Scalar(0), {});
  const Tensor own =
      logical_and(eq(unsqueeze(classes, 2), unsqueeze(class_numbers(x), 0)),
                  logical_not(unsqueeze(ended, 2)));
  const Tensor is_target = any(own, Dims{1});
  const Tensor gaps =
      relu(unsqueeze(x, 1) - unsqueeze(gather(x, 1, classes), 2) + 1.0);
  const Tensor skipped =
      logical_or(unsqueeze(ended, 2), unsqueeze(is_target, 1));
  const Tensor loss =
      sum(masked_fill(gaps, skipped, 0), Dims{1, 2}) / double(x.size(1));
  return reduce_samples(loss, self, reduction);
}

}  // namespace

HOTARU_OP(
    "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, "
    "Scalar margin=1, Tensor? weight=None, int reduction=Mean) -> Tensor",
    multi_margin_loss);
HOTARU_OP(
    "multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) "
    "-> Tensor",
    multilabel_margin_loss);

}  // namespace hotaru
