// Indexing under a mask: where it is false, an index may be anything.
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/index.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"

namespace hotaru {
namespace {

/// The indices with those that fit nowhere at the nearest place that does.
Tensors fitted(const Tensor& self, Tensors indices) {
  for (size_t d = 0; d < indices.size(); ++d)
    if (indices[d].defined())
      indices[d] = clamp(indices[d], Scalar(-self.size(int64_t(d))),
                         Scalar(self.size(int64_t(d)) - 1));
  return indices;
}

/// self[indices] where the mask is true, `fill` elsewhere.
Tensor masked_index(const Tensor& self, const Tensor& mask,
                    const Tensors& indices, const Scalar& fill) {
  if (self.numel() == 0)
    return full(mask.sizes(), fill, {self.dtype(), self.device()});
  return masked_fill(index(self, fitted(self, indices)), logical_not(mask),
                     fill);
}

/// self with the values of the mask's true elements added at the indices.
Tensor masked_index_put(const Tensor& self, const Tensor& mask,
                        const Tensors& indices, const Tensor& values) {
  if (self.numel() == 0) return clone(self);
  return index_put(self, fitted(self, indices),
                   masked_fill(values, logical_not(mask), 0), true);
}

HOTARU_OP(
    "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar "
    "fill) -> Tensor",
    masked_index);
HOTARU_OP(
    "_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] "
    "indices, Tensor values) -> Tensor",
    masked_index_put);

}  // namespace
}  // namespace hotaru
