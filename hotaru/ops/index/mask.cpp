#include "hotaru/ops/index/mask.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/mask_grad.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

const Kernel& kNonzero = kernel("nonzero");
const Kernel& kMaskedSelect = kernel("masked_select");
const Kernel& kMaskedScatter = kernel("masked_scatter");

/// Number of nonzero elements; waits for them.
int64_t count(const Tensor& t) {
  return host_value(count_nonzero(t), "the length of the result").to_int();
}

void scatter_into(const Tensor& out, const Tensor& self, const Tensor& mask,
                  const Tensor& source) {
  HOTARU_CHECK(self.dtype() == source.dtype(),
               "masked_scatter: expected self and source to have same dtypes "
               "but got",
               scalar_type_name(self.dtype()), " and ",
               scalar_type_name(source.dtype()));
  HOTARU_CHECK(mask.dtype() == DType::kBool,
               "masked_scatter_ only supports boolean masks, but got mask with "
               "dtype ",
               scalar_type_name(mask.dtype()));
  {
    autograd::NoGrad guard;
    const Tensor target = untracked(out);
    const Tensor wide = expand(mask, out.sizes());
    const Tensor from = contiguous(source);
    enqueue(kMaskedScatter, {update(target), read(wide), read(from)});
  }
  if (autograd::needs_grad(self, source))
    grad::masked_scatter(out, self, mask, source);
}

}  // namespace

Tensor nonzero(const Tensor& self) {
  // A dimension's places are neighbours, as in PyTorch.
  const int64_t n = count(self);
  const Tensor out =
      allocate(Dims{n, self.dim()}, Dims{1, n}, DType::kInt64, self.device());
  if (out.numel() > 0) enqueue(kNonzero, {write(out), read(self)});
  return out;
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  HOTARU_CHECK(mask.dtype() == DType::kBool,
               "masked_select: expected BoolTensor for mask");
  const Dims shape = broadcast_shapes(mask.sizes(), self.sizes());
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor wide = expand(mask, shape), in = expand(self, shape);
    out = allocate(Dims{count(wide)}, self.dtype(), self.device());
    if (out.numel() > 0)
      enqueue(kMaskedSelect, {write(out), read(in), read(wide)});
  }
  if (autograd::needs_grad(self)) grad::masked_select(out, self, mask, shape);
  return out;
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask,
                      const Tensor& source) {
  // Unlike its in-place form this one broadcasts self as well.
  const Dims shape = broadcast_shapes(self.sizes(), mask.sizes());
  const Tensor wide = expand(self, shape);
  const Tensor out = row_major_copy(wide);
  scatter_into(out, wide, mask, source);
  return out;
}

Tensor masked_scatter_(const Tensor& self, const Tensor& mask,
                       const Tensor& source) {
  autograd::check_inplace(self, source);
  check_written(self);
  scatter_into(self, self, mask, source);
  self.bump_version();
  return self;
}

Tensors nonzero_numpy(const Tensor& self) {
  // A scalar has one dimension here.
  return unbind(nonzero(self.dim() ? self : view(self, Dims{1})), 1);
}

namespace {

HOTARU_OP("nonzero(Tensor self) -> Tensor", nonzero);
HOTARU_OP("argwhere(Tensor self) -> Tensor", nonzero);
HOTARU_OP(
    "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
    +[](const Tensor& self, int64_t size, int64_t fill_value) {
      HOTARU_CHECK(size >= 0,
                   "nonzero_static: 'size' must be an non-negative integer");
      const Tensor found = nonzero(self);
      const int64_t n = std::min(size, found.size(0));
      const Tensor rest = full(Dims{size - n, self.dim()}, Scalar(fill_value),
                               TensorOptions(found));
      return cat({narrow(found, 0, 0, n), rest}, 0);
    });
HOTARU_OP("nonzero_numpy(Tensor self) -> Tensor[]", nonzero_numpy);
HOTARU_OP("masked_select(Tensor self, Tensor mask) -> Tensor", masked_select);
HOTARU_OP("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
          masked_scatter);
HOTARU_OP(
    "masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> "
    "Tensor(a!)",
    masked_scatter_);

}  // namespace
}  // namespace hotaru
