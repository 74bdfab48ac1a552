#include "hotaru/ops/distance.h"

#include "hotaru/ops/copy.h"
#include "hotaru/ops/moments.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/view.h"

namespace hotaru {

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim,
                         double eps) {
  const DType common = result_type({x1, x2});
  HOTARU_CHECK(is_floating_point(common),
               "expected common dtype to be floating point, yet common dtype "
               "is ",
               scalar_type_name(common));
  const Dims size = broadcast_shapes(x1.sizes(), x2.sizes());
  const Tensor a = expand(to(x1, common), size);
  const Tensor b = expand(to(x2, common), size);
  const auto unit = [&](const Tensor& t) {
    const Tensor length =
        clamp(linalg_vector_norm(t, 2, Dims{dim}, true), Scalar(eps), {});
    return t / length;
  };
  return sum(unit(a) * unit(b), Dims{dim});
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p,
                         double eps, bool keepdim) {
  return linalg_vector_norm(x1 - x2 + eps, p, Dims{-1}, keepdim);
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p) {
  HOTARU_CHECK(x1.dim() >= 2,
               "cdist only supports at least 2D tensors, X1 "
               "got: ",
               x1.dim(), "D");
  HOTARU_CHECK(x2.dim() >= 2,
               "cdist only supports at least 2D tensors, X2 "
               "got: ",
               x2.dim(), "D");
  HOTARU_CHECK(x1.size(-1) == x2.size(-1),
               "X1 and X2 must have the same number of columns. X1: ",
               x1.size(-1), " X2: ", x2.size(-1));
  HOTARU_CHECK(p >= 0, "cdist only supports non-negative p values");
  return linalg_vector_norm(unsqueeze(x1, -2) - unsqueeze(x2, -3), p, Dims{-1});
}

namespace {

Tensor cdist_mode(const Tensor& x1, const Tensor& x2, double p,
                  Optional<int64_t>) {
  return cdist(x1, x2, p);
}

}  // namespace

HOTARU_OP(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) "
    "-> Tensor",
    cosine_similarity);
HOTARU_OP(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, "
    "bool keepdim=False) -> Tensor",
    pairwise_distance);
HOTARU_OP(
    "cdist(Tensor x1, Tensor x2, float p=2.0, int? compute_mode=None) "
    "-> Tensor",
    cdist_mode);

}  // namespace hotaru
