// hash_tensor: a fingerprint of elements, whatever their order.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce_dims.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/shape/view_dtype.h"

namespace hotaru {
namespace {

/// The elements as 64 bits each: floats as doubles, integers sign-extended.
Tensor words(const Tensor& self) {
  const Tensor plain = detach(self);
  if (self.is_floating_point())
    return view(contiguous(to(plain, DType::kFloat64)), DType::kInt64);
  return contiguous(to(plain, DType::kInt64));
}

/// The exclusive or along the last dimension, by halving it.
Tensor xor_of(Tensor x) {
  while (x.size(-1) > 1) {
    const int64_t size = x.size(-1), half = size / 2;
    const Tensor folded =
        bitwise_xor(narrow(x, -1, 0, half), narrow(x, -1, half, half));
    x = size % 2 ? cat({folded, narrow(x, -1, size - 1, 1)}, -1) : folded;
  }
  return squeeze(x, -1);
}

/// mode 0, the only one: the exclusive or of all elements' words, as uint64.
Tensor hash_tensor(const Tensor& self, IntSpan dim, bool keepdim,
                   int64_t mode) {
  const Dims dims = reduced_dims(self, dim);
  HOTARU_CHECK(mode == 0, "Unknown hash_tensor mode: ", mode);
  if (self.is_complex() || is_rare(self.dtype()))
    refuse_dtype("xor_sum_cpu", self.dtype());
  if (self.numel() == 0) {
    HOTARU_CHECK(!dim.empty(),
                 "hash_tensor: Expected reduction dim to be specified for "
                 "input.numel() == 0. Specify the reduction dim with the "
                 "'dim' argument.");
    for (int64_t d : dim)
      HOTARU_CHECK_AS(IndexError, self.size(d) > 0,
                      "hash_tensor: Expected reduction dim ", d,
                      " to have non-zero size.");
  }
  Tensor x = words(self);
  const Dims sizes = kept_sizes(self, dims);
  Dims last(dims.size(), 0);
  for (size_t i = 0; i < last.size(); ++i)
    last[i] = int64_t(i) - int64_t(last.size());
  if (!dims.empty()) {
    x = contiguous(movedim(x, dims, last));
    x = xor_of(flatten(x, x.dim() - int64_t(dims.size())));
  }
  const Tensor out = view(contiguous(reshape(x, sizes)), DType::kUInt64);
  if (!keepdim) drop_dims(out, dims);
  return out;
}

HOTARU_OP(
    "hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int "
    "mode=0) -> Tensor",
    hash_tensor);

}  // namespace
}  // namespace hotaru
