// Losses that compare with a margin.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/distance/distance.h"
#include "hotaru/ops/loss/loss.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

Tensor positive_part(const Tensor& x) {
  return clamp(x, Scalar(0), {});
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target,
                            double margin, int64_t reduction) {
  // Integers have a loss of integers, as PyTorch's.
  const Tensor border = full({}, margin, TensorOptions(self));
  const Tensor apart =
      masked_fill(positive_part(border - self), eq(target, 1), 0);
  const Tensor together = masked_fill(self, eq(target, -1), 0);
  return reduce_loss(apart + together, reduction);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2,
                           const Tensor& target, double margin,
                           int64_t reduction) {
  return reduce_loss(positive_part(-target * (input1 - input2) + margin),
                     reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2,
                             const Tensor& target, double margin,
                             int64_t reduction) {
  HOTARU_CHECK(target.dim() <= 1,
               "0D or 1D target tensor expected, multi-target not supported");
  const int64_t rank = target.dim() == 1 ? 2 : 1;
  HOTARU_CHECK(input1.dim() == rank && input2.dim() == rank, rank - 1,
               "D target tensor expects ", rank,
               "D input tensors, but found inputs with sizes ",
               shape_text(input1.sizes()), " and ", shape_text(input2.sizes()),
               ".");
  constexpr double kEps = 1e-12;
  const Dims dim{rank - 1};
  const Tensor dot = sum(input1 * input2, dim);
  const Tensor a = sum(input1 * input1, dim) + kEps;
  const Tensor b = sum(input2 * input2, dim) + kEps;
  const Tensor cosine = dot / sqrt(a * b);
  const Tensor together = masked_fill(1 - cosine, ne(target, 1), 0);
  const Tensor apart =
      masked_fill(positive_part(cosine - margin), ne(target, -1), 0);
  return reduce_loss(together + apart, reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                           const Tensor& negative, double margin, double p,
                           double eps, bool swap, int64_t reduction) {
  HOTARU_CHECK(
      anchor.dim() == positive.dim() && positive.dim() == negative.dim(),
      "The anchor, positive, and negative tensors are expected to "
      "have the same number of dimensions, but got: anchor ",
      anchor.dim(), "D, positive ", positive.dim(), "D, and negative ",
      negative.dim(), "D inputs");
  const Tensor near = pairwise_distance(anchor, positive, p, eps);
  Tensor far = pairwise_distance(anchor, negative, p, eps);
  if (swap) far = minimum(far, pairwise_distance(positive, negative, p, eps));
  return reduce_loss(positive_part(near - far + margin), reduction);
}

}  // namespace

HOTARU_OP(
    "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, "
    "int reduction=Mean) -> Tensor",
    hinge_embedding_loss);
HOTARU_OP(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, "
    "float margin=0.0, int reduction=Mean) -> Tensor",
    margin_ranking_loss);
HOTARU_OP(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, "
    "float margin=0.0, int reduction=Mean) -> Tensor",
    cosine_embedding_loss);
HOTARU_OP(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, "
    "float margin=1.0, float p=2, float eps=1e-06, bool swap=False, "
    "int reduction=Mean) -> Tensor",
    triplet_margin_loss);

}  // namespace hotaru
