// Weights as directions and norms.
#include <tuple>
#include <vector>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// Norms over all axes but `dim`, which are kept with size 1; over all axes,
/// and without any, where `dim` is -1.
Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) return linalg_vector_norm(v, Scalar(pow));
  const int64_t rank = v.dim();
  HOTARU_CHECK_AS(IndexError, dim >= 0 && dim < rank,
                  "norm_except_dim: dimension ", dim,
                  " is out of range for a tensor of ", rank, " dimensions");
  const Tensor rows = transpose(v, 0, dim);
  const Dims flat{v.sizes()[size_t(dim)], -1}, over{1};
  std::vector<int64_t> shape(size_t(rank), 1);
  shape[size_t(dim)] = flat[0];
  return reshape(linalg_vector_norm(reshape(rows, flat), Scalar(pow), over),
                 shape);
}

std::tuple<Tensor, Tensor> weight_and_norm(const Tensor& v, const Tensor& g,
                                           int64_t dim) {
  HOTARU_CHECK(v.device() == g.device(),
               "weight_norm: expected v_in and g_in to be on the same device, "
               "but v_in is on ",
               v.device().str(), " and g_in is on ", g.device().str());
  Tensor norm = norm_except_dim(v, 2, dim);
  return {mul(v, div(g, norm)), norm};
}

HOTARU_OP("norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
          norm_except_dim);
HOTARU_OP(
    "_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
    +[](const Tensor& v, const Tensor& g, int64_t dim) {
      return std::get<0>(weight_and_norm(v, g, dim));
    });
HOTARU_OP(
    "_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, "
    "Tensor)",
    weight_and_norm);

}  // namespace
}  // namespace hotaru
