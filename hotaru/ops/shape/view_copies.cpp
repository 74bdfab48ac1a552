// Copies of views (`permute_copy`), copies of a tensor with one view of them
// written (`slice_scatter`), and pieces that are no views (`unsafe_split`).
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/slice_shift.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/shape/view_dtype.h"

namespace hotaru {
namespace {

/// A row-major copy.
Tensor fresh(const Tensor& view) {
  return view.is_contiguous() ? clone(view) : contiguous(view);
}

Tensors fresh(const Tensors& views) {
  Tensors out;
  for (const Tensor& view : views) out.push_back(fresh(view));
  return out;
}

/// `View` followed by fresh(), as a function for a schema.
template <auto View>
struct Copied;
template <class R, class... A, R (*View)(A...)>
struct Copied<View> {
  static R call(A... arguments) { return fresh(View(arguments...)); }
};

Tensor expanded(const Tensor& self, IntSpan size, bool) {
  return expand(self, size);
}

HOTARU_OP(
    "alias_copy(Tensor self) -> Tensor",
    +[](const Tensor& self) { return fresh(self); });
HOTARU_OP(
    "as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? "
    "storage_offset=None) -> Tensor",
    Copied<&as_strided_in_slice>::call);
HOTARU_OP(
    "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> "
    "Tensor",
    Copied<&diagonal>::call);
HOTARU_OP(
    "expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> "
    "Tensor",
    Copied<&expanded>::call);
HOTARU_OP(
    "narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
    Copied<&narrow>::call);
HOTARU_OP("permute_copy(Tensor self, int[] dims) -> Tensor",
          Copied<&permute>::call);
HOTARU_OP("select_copy.int(Tensor self, int dim, SymInt index) -> Tensor",
          Copied<&select>::call);
HOTARU_OP(
    "slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? "
    "end=None, SymInt step=1) -> Tensor",
    Copied<&slice>::call);
HOTARU_OP(
    "split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
    Copied<&split>::call);
HOTARU_OP(
    "split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> "
    "Tensor[]",
    Copied<&split_with_sizes>::call);
HOTARU_OP("squeeze_copy(Tensor self) -> Tensor",
          Copied<static_cast<Tensor (*)(const Tensor&)>(&squeeze)>::call);
HOTARU_OP(
    "squeeze_copy.dim(Tensor self, int dim) -> Tensor",
    Copied<static_cast<Tensor (*)(const Tensor&, int64_t)>(&squeeze)>::call);
HOTARU_OP(
    "squeeze_copy.dims(Tensor self, int[] dim) -> Tensor",
    Copied<static_cast<Tensor (*)(const Tensor&, IntSpan)>(&squeeze)>::call);
HOTARU_OP("t_copy(Tensor self) -> Tensor", Copied<&t>::call);
HOTARU_OP("transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor",
          Copied<&transpose>::call);
HOTARU_OP("unbind_copy.int(Tensor self, int dim=0) -> Tensor[]",
          Copied<&unbind>::call);
HOTARU_OP(
    "unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor",
    Copied<&unfold>::call);
HOTARU_OP("unsqueeze_copy(Tensor self, int dim) -> Tensor",
          Copied<&unsqueeze>::call);
HOTARU_OP("view_copy(Tensor self, SymInt[] size) -> Tensor",
          Copied<static_cast<Tensor (*)(const Tensor&, IntSpan)>(&view)>::call);
HOTARU_OP(
    "view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor",
    +[](const Tensor& self, DType dtype) { return fresh(view(self, dtype)); });

/// A copy with self's strides and offset, and what lies between its elements.
Tensor clone_with_gaps(const Tensor& self) {
  const int64_t extent =
      self.storage_offset() + storage_extent(self.sizes(), self.strides());
  if (self.numel() == 0 || extent == self.numel() || repeats(self))
    return clone(self);
  return as_strided(clone(as_strided(self, Dims{extent}, Dims{1}, 0)),
                    self.sizes(), self.strides(), self.storage_offset());
}

/// `out`, a copy of self, whose `part`, a view of it, becomes src.
template <class Part>
Tensor scattered(const char* what, const Tensor& out, const Tensor& src,
                 const Part& part) {
  const Tensor view = part(out);
  HOTARU_CHECK(same(view.sizes(), src.sizes()),
               "expected src to have a size equal to the ", what,
               " of self. src size = ", shape_text(src.sizes()), ", ", what,
               " size = ", shape_text(view.sizes()));
  copy_(view, src);
  return out;
}

HOTARU_OP(
    "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
    "SymInt? end=None, SymInt step=1) -> Tensor",
    +[](const Tensor& self, const Tensor& src, int64_t dim,
        const Optional<int64_t>& start, const Optional<int64_t>& end,
        int64_t step) {
      return scattered("slice", clone(self), src, [&](const Tensor& out) {
        return slice(out, dim, start, end, step);
      });
    });
HOTARU_OP(
    "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
    +[](const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
      return scattered("slice", clone(self), src, [&](const Tensor& out) {
        return select(out, dim, index);
      });
    });
HOTARU_OP(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int "
    "dim2=1) -> Tensor",
    +[](const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
        int64_t dim2) {
      return scattered("slice", clone(self), src, [&](const Tensor& out) {
        return diagonal(out, offset, dim1, dim2);
      });
    });
HOTARU_OP(
    "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] "
    "stride, SymInt? storage_offset=None) -> Tensor",
    +[](const Tensor& self, const Tensor& src, IntSpan size, IntSpan stride,
        const Optional<int64_t>& offset) {
      return scattered(
          "slice", clone_with_gaps(self), src, [&](const Tensor& out) {
            return as_strided(out, size, stride, offset_in_slice(self, offset));
          });
    });

/// Pieces that share memory, and yet none is a view of anything.
Tensors unsafe(Tensors pieces) {
  for (Tensor& piece : pieces) piece = without_base(piece);
  return pieces;
}

HOTARU_OP(
    "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> "
    "Tensor[]",
    +[](const Tensor& self, int64_t size, int64_t dim) {
      return unsafe(split(self, size, dim));
    });
HOTARU_OP(
    "unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> "
    "Tensor[]",
    +[](const Tensor& self, IntSpan sizes, int64_t dim) {
      return unsafe(split_with_sizes(self, sizes, dim));
    });
HOTARU_OP(
    "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
    +[](const Tensor& self, int64_t chunks, int64_t dim) {
      return unsafe(chunk(self, chunks, dim));
    });

}  // namespace
}  // namespace hotaru
