#include "hotaru/ops/sparse/sum.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/index/index.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {

namespace {

bool is_sparse(const Tensor& tensor) {
  return sparse_storage(tensor) != nullptr;
}

}  // namespace

Tensor sum_of_opaque(const Tensor& a, const Tensor& b) {
  return is_sparse(a) || is_sparse(b) ? sparse_sum(a, b) : opaque_sum(a, b);
}

Tensor sparse_sum(const Tensor& a, const Tensor& b) {
  if (!is_sparse(a)) return sparse_sum(b, a);
  const SparseStorage::Parts& x = sparse_storage(a)->parts();
  HOTARU_CHECK_AS(NotImplementedError, x.layout == Layout::kSparseCoo,
                  "add: gradients in compressed sparse layouts are not summed; "
                  "convert them with to_sparse_coo()");
  if (!is_sparse(b)) return index_put(b, unbind(x.index, 0), x.values, true);
  const SparseStorage::Parts& y = sparse_storage(b)->parts();
  HOTARU_CHECK_AS(NotImplementedError, y.layout == x.layout,
                  "add: gradients in different sparse layouts are not summed");
  return make_sparse({.layout = x.layout,
                      .index = cat({x.index, y.index}, 1),
                      .inner = {},
                      .values = cat({x.values, y.values}, 0)},
                     a.sizes(), false);
}

}  // namespace hotaru
