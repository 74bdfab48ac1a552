// index_reduce: slices of source that go to one place are combined there.
#include <string>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// The sizes beside a dimension.
Dims without(IntSpan sizes, size_t dim) {
  Dims out(sizes);
  out.erase(dim);
  return out;
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& source, const std::string& reduce,
                    bool include_self) {
  HOTARU_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" ||
                   reduce == "amin",
               "index_reduce(): Expected reduce to be one of prod, mean, amax "
               "or amin but got ",
               reduce, ".");
  HOTARU_CHECK(
      index.dim() <= 1,
      "index_reduce_(): Index is supposed to be a vector, but got dim: ",
      index.dim(), " with type: ", scalar_type_name(index.dtype()),
      " and size: ", shape_text(index.sizes()));
  HOTARU_CHECK(index.dtype() == DType::kInt64 || index.dtype() == DType::kInt32,
               "index_reduce(): Expected dtype int32/int64 for index");
  HOTARU_CHECK(self.dtype() == source.dtype(),
               "index_reduce(): self and source expected to have the same "
               "dtype, but got (self) ",
               scalar_type_name(self.dtype()), " and (source) ",
               scalar_type_name(source.dtype()));
  const Tensor rows = self.dim() == 0 ? unsqueeze(self, 0) : self;
  const Tensor from = source.dim() == 0 ? unsqueeze(source, 0) : source;
  const auto at = size_t(wrap_dim(dim, rows.dim()));
  HOTARU_CHECK(int64_t(at) < from.dim() && index.numel() == from.size(at),
               "index_reduce_(): Number of indices (", index.numel(),
               ") should be equal to source.size(dim): (",
               int64_t(at) < from.dim() ? from.size(int64_t(at)) : 0,
               "), for dim: ", dim);
  HOTARU_CHECK(
      self.dim() == source.dim() &&
          without(rows.sizes(), at) == without(from.sizes(), at),
      "source tensor shape must match self tensor shape, excluding the "
      "specified dimension. Got self.shape = ",
      shape_text(self.sizes()), " source.shape = ", shape_text(source.sizes()));
  Dims shape(size_t(from.dim()), 1);
  shape[at] = index.numel();
  const Tensor places =
      expand(reshape(to(index, DType::kInt64), shape), from.sizes());
  const Tensor out =
      scatter_reduce(rows, int64_t(at), places, from, reduce, include_self);
  return self.dim() == 0 ? squeeze(out, 0) : out;
}

HOTARU_OP(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str "
    "reduce, *, bool include_self=True) -> Tensor",
    index_reduce);
HOTARU_OP(
    "index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str "
    "reduce, *, bool include_self=True) -> Tensor(a!)",
    +[](const Tensor& self, int64_t dim, const Tensor& index,
        const Tensor& source, const std::string& reduce, bool include_self) {
      check_written(self);
      check_apart(self, index);
      check_apart(self, source);
      return in_place(self, [&](const Tensor& x) {
        return index_reduce(x, dim, index, source, reduce, include_self);
      });
    });

}  // namespace
}  // namespace hotaru
