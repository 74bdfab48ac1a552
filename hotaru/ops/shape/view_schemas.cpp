// Schemas of the views.
#include <algorithm>
#include <functional>

#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/slice_shift.h"
#include "hotaru/ops/shape/transposes.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {

Tensor numpy_T(const Tensor& self) {
  static constinit OnceWarning number{
      "Tensor.T is deprecated on 0-D tensors. This function is the identity in "
      "these cases."};
  static constinit OnceWarning other{
      "The use of `x.T` on tensors of dimension other than 2 to reverse their "
      "shape is deprecated and it will throw an error in a future release. "
      "Consider `x.mT` to transpose batches of matrices or "
      "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the "
      "dimensions "
      "of a tensor."};
  if (self.dim() != 2) (self.dim() == 0 ? number : other).give();
  Dims order;
  for (int64_t d = self.dim(); d-- > 0;) order.push_back(d);
  return permute(self, order);
}

Tensor matrix_T(const Tensor& self) {
  static constinit OnceWarning number{
      "Tensor.mT is deprecated on 0-D tensors. This function is the identity "
      "in "
      "these cases."};
  if (self.dim() == 0) {
    number.give();
    return view(self, self.sizes());
  }
  HOTARU_CHECK(self.dim() >= 2,
               "tensor.mT is only supported on matrices or batches of "
               "matrices. Got ",
               self.dim(), "-D tensor.");
  return transpose(self, -2, -1);
}

namespace {

/// Applies a view in place: self takes the geometry and the history of what
/// `view` makes of it; a view of another tensor stays one.
Tensor become(const Tensor& self,
              const std::function<Tensor(const Tensor&)>& view) {
  const bool written = autograd::grad_enabled() && self.is_view();
  if (written && autograd::requires_grad(self))
    autograd::check_origin(self, autograd::kModified);
  const bool leaf = autograd::is_leaf(self);
  const bool recorded = autograd::requires_grad(self) && !leaf;
  HOTARU_CHECK(
      !leaf || !autograd::requires_grad(self) || !autograd::grad_enabled(),
      "a view of a leaf Variable that requires grad is being used in "
      "an in-place operation.");
  autograd::check_inplace(self);
  // The values stay those that were differentiated, in whatever mode.
  const autograd::GradMode mode(recorded || autograd::grad_enabled());
  const Tensor before = make_alias(self);
  const bool rebase = recorded && autograd::writes_base(self);
  if (recorded && !rebase)
    before.impl()->autograd = autograd::copy_history(self);
  const Tensor after = view(before);
  self.impl()->set_geometry(after.sizes(), after.strides(),
                            after.storage_offset());
  self.bump_version();
  if (rebase)
    autograd::forget_history(self);
  else if (recorded)
    autograd::take_history(self, after);
  return self;
}

using ViewOfSizes = Tensor (*)(const Tensor&, IntSpan);

HOTARU_OP("view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
          ViewOfSizes{view});
HOTARU_OP(
    "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    +[](const Tensor& self, const Tensor& other) {
      return view(self, other.sizes());
    });
HOTARU_OP("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", reshape);
HOTARU_OP(
    "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    +[](const Tensor& self, const Tensor& other) {
      return reshape(self, other.sizes());
    });
HOTARU_OP("_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
          ViewOfSizes{view});
HOTARU_OP(
    "flatten.using_ints(Tensor(a) self, int start_dim=0, int "
    "end_dim=-1) -> Tensor(a)",
    flatten);
HOTARU_OP(
    "ravel(Tensor(a) self) -> Tensor(a)", +[](const Tensor& self) {
      return view(contiguous(self), Dims{self.numel()});
    });
HOTARU_OP("unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
          unflatten);
HOTARU_OP(
    "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? "
    "storage_offset=None) -> Tensor(a)",
    as_strided_in_slice);
HOTARU_OP("permute(Tensor(a) self, int[] dims) -> Tensor(a)", permute);
HOTARU_OP("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
          transpose);
HOTARU_OP("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
          transpose);
HOTARU_OP("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
          transpose);
HOTARU_OP("t(Tensor(a) self) -> Tensor(a)", t);
HOTARU_OP("numpy_T(Tensor(a) self) -> Tensor(a)", numpy_T);
HOTARU_OP("mT(Tensor(a) self) -> Tensor(a)", matrix_T);
HOTARU_OP("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
          select);
HOTARU_OP(
    "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? "
    "end=None, SymInt step=1) -> Tensor(a)",
    slice);
HOTARU_OP(
    "narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> "
    "Tensor(a)",
    narrow);
HOTARU_OP(
    "squeeze(Tensor(a) self) -> Tensor(a)",
    +[](const Tensor& self) { return squeeze(self); });
HOTARU_OP(
    "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    +[](const Tensor& self, int64_t dim) { return squeeze(self, dim); });
HOTARU_OP("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
          static_cast<Tensor (*)(const Tensor&, IntSpan)>(squeeze));
HOTARU_OP("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", unsqueeze);
HOTARU_OP(
    "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> "
    "Tensor(a)",
    +[](const Tensor& self, IntSpan size, bool) { return expand(self, size); });
HOTARU_OP(
    "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    +[](const Tensor& self, const Tensor& other) {
      return expand(self, other.sizes());
    });
HOTARU_OP("broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", expand);
HOTARU_OP(
    "broadcast_tensors(Tensor[] tensors) -> Tensor[]",
    +[](const Tensors& tensors) {
      Dims shape;
      for (const Tensor& t : tensors)
        shape = broadcast_shapes(shape, t.sizes());
      Tensors out;
      for (const Tensor& t : tensors) out.push_back(expand(t, shape));
      return out;
    });
HOTARU_OP(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> "
    "Tensor(a)",
    unfold);
HOTARU_OP(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> "
    "Tensor(a)",
    diagonal);
HOTARU_OP(
    "movedim.intlist(Tensor(a) self, int[] source, int[] destination) "
    "-> Tensor(a)",
    movedim);
HOTARU_OP(
    "movedim.int(Tensor(a) self, int source, int destination) -> "
    "Tensor(a)",
    +[](const Tensor& self, int64_t source, int64_t destination) {
      return movedim(self, Dims{source}, Dims{destination});
    });
HOTARU_OP(
    "moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) "
    "-> Tensor(a)",
    movedim);
HOTARU_OP(
    "moveaxis.int(Tensor(a) self, int source, int destination) -> "
    "Tensor(a)",
    +[](const Tensor& self, int64_t source, int64_t destination) {
      return movedim(self, Dims{source}, Dims{destination});
    });
HOTARU_OP(
    "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> "
    "Tensor(a)[]",
    split);
HOTARU_OP(
    "split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) "
    "-> Tensor(a)[]",
    split_with_sizes);
HOTARU_OP(
    "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int "
    "dim=0) -> Tensor(a)[]",
    split_with_sizes);
HOTARU_OP("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
          chunk);
HOTARU_OP("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", unbind);
HOTARU_OP(
    "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
    +[](const Tensor& self, int64_t dim) {
      return become(self, [&](const Tensor& x) { return unsqueeze(x, dim); });
    });
HOTARU_OP(
    "squeeze_(Tensor(a!) self) -> Tensor(a!)", +[](const Tensor& self) {
      return become(self, [](const Tensor& x) { return squeeze(x); });
    });
HOTARU_OP(
    "squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)",
    +[](const Tensor& self, IntSpan dims) {
      return become(self, [&](const Tensor& x) { return squeeze(x, dims); });
    });
HOTARU_OP(
    "squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)",
    +[](const Tensor& self, int64_t dim) {
      return become(self, [&](const Tensor& x) { return squeeze(x, dim); });
    });
HOTARU_OP(
    "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    +[](const Tensor& self, int64_t dim0, int64_t dim1) {
      return become(self,
                    [&](const Tensor& x) { return transpose(x, dim0, dim1); });
    });
HOTARU_OP(
    "t_(Tensor(a!) self) -> Tensor(a!)", +[](const Tensor& self) {
      return become(self, [](const Tensor& x) { return t(x); });
    });
HOTARU_OP(
    "as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? "
    "storage_offset=None) -> Tensor(a!)",
    +[](const Tensor& self, IntSpan size, IntSpan stride,
        Optional<int64_t> offset) {
      return become(self, [&](const Tensor& x) {
        return as_strided_in_slice(x, size, stride, offset);
      });
    });
HOTARU_OP(
    "swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
    +[](const Tensor& self, int64_t axis0, int64_t axis1) {
      return become(
          self, [&](const Tensor& x) { return transpose(x, axis0, axis1); });
    });
HOTARU_OP(
    "swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    +[](const Tensor& self, int64_t dim0, int64_t dim1) {
      return become(self,
                    [&](const Tensor& x) { return transpose(x, dim0, dim1); });
    });

}  // namespace
}  // namespace hotaru
