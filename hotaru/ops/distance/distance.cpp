#include "hotaru/ops/distance/distance.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim,
                         double eps) {
  HOTARU_CHECK(eps >= 0, "eps must be non-negative, got: ", eps);
  // After broadcasting numbers count, too.
  const DType common = promote_types(x1.dtype(), x2.dtype());
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
  const Tensor apart = x1 - x2 + eps;
  if (autocast::active())
    return autocast::by_name("norm", "ScalarOpt_dim",
                             {apart, p, Value::int_list(Dims{-1}), keepdim});
  return linalg_vector_norm(apart, p, Dims{-1}, keepdim);
}

HOTARU_OP(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) "
    "-> Tensor",
    cosine_similarity);
HOTARU_OP(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, "
    "bool keepdim=False) -> Tensor",
    pairwise_distance);

}  // namespace hotaru
