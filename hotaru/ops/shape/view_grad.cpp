#include "hotaru/ops/shape/view_grad.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;

/// Records a formula that takes the one gradient to the one input.
template <class F>
void record_view(const char* name, const Tensor& out, const Tensor& self,
                 F formula) {
  autograd::record(name, out, {self}, {},
                   [formula](Backward&, const Tensor& g) -> Tensors {
                     return {formula(g)};
                   });
}

/// Zeros of the input's shape with the gradient written into a view of them.
template <class F>
void record_scatter(const char* name, const Tensor& out, const Tensor& self,
                    F view_of) {
  record_view(name, out, self,
              [shape = Dims(self.sizes()), view_of](const Tensor& g) {
                const Tensor whole = zeros(shape, TensorOptions(g));
                copy_(view_of(whole), g);
                return whole;
              });
}

/// Records a node of several views. `join` makes the input's gradient of
/// theirs, all of them defined.
void record_many(const char* name, const Tensors& out, const Tensor& self,
                 Tensor (*join)(const Tensors&, int64_t), int64_t dim) {
  std::vector<Dims> shapes;
  for (const Tensor& t : out) shapes.emplace_back(t.sizes());
  const TensorOptions options(self);
  const Tensors inputs{self};
  autograd::record(
      name, out, inputs, {},
      [shapes, options, join, dim](Backward&, const Tensors& given) -> Tensors {
        Tensors grads = given;
        for (size_t i = 0; i < grads.size(); ++i)
          if (!grads[i].defined()) grads[i] = zeros(shapes[i], options);
        return {join(grads, dim)};
      });
  // Not to be written in place.
  for (const Tensor& t : out)
    autograd::ensure_meta(t).origin = autograd::ViewOrigin::kOneOfMany;
}

const Kernel& kScatterStrided = kernel("scatter_strided");

/// Tells whether two places of a view may be one element: false only where
/// every stride steps over all that the smaller ones reach.
bool may_share_elements(IntSpan sizes, IntSpan strides) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return false;
    if (sizes[d] > 1) dims.emplace_back(strides[d], sizes[d]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t reached = 0;  // the last element's offset
  for (const auto& [stride, size] : dims) {
    if (stride <= reached) return true;
    reached += stride * (size - 1);
  }
  return false;
}

/// Computes scatter_strided. Where elements of 16 bits may meet they are added
/// in floats and rounded once.
Tensor summed_places(const Tensor& grad, int64_t extent, IntSpan strides,
                     int64_t offset) {
  autograd::NoGrad guard;
  const DType dtype = grad.dtype();
  const bool wide =
      itemsize(dtype) == 2 && may_share_elements(grad.sizes(), strides);
  const Tensor part = wide ? to(grad, DType::kFloat32) : grad;
  const Tensor memory = zeros(Dims{extent}, TensorOptions(part));
  const Tensor view = make_tensor(memory.storage(), part.dtype(), part.sizes(),
                                  strides, offset);
  enqueue(kScatterStrided, {update(view), read(part)});
  return to(memory, dtype);
}

/// How many places of an input show each element of a memory; at least 1.
Tensor places(const Tensor& grad, int64_t extent, IntSpan sizes,
              IntSpan strides, int64_t offset) {
  // Counted in a type that has the numbers between 2,048 and 65,504, too.
  const bool wide = to_real(grad.dtype()) == DType::kFloat64;
  const TensorOptions options{wide ? DType::kFloat64 : DType::kFloat32,
                              grad.device()};
  const Tensor counted =
      scatter_strided(ones(sizes, options), extent, strides, offset);
  return to(clamp(counted, Scalar(1), {}), grad.dtype());
}

}  // namespace

void view_grad(const char* name, const Tensor& out, const Tensor& self) {
  record_view(name, out, self, [shape = Dims(self.sizes())](const Tensor& g) {
    return reshape(g, shape);
  });
}

void permute_grad(const Tensor& out, const Tensor& self, const Dims& order) {
  Dims inverse(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i)
    inverse[size_t(order[i])] = int64_t(i);
  record_view("PermuteBackward0", out, self,
              [inverse](const Tensor& g) { return permute(g, inverse); });
}

void transpose_grad(const Tensor& out, const Tensor& self, int64_t dim0,
                    int64_t dim1) {
  record_view("TransposeBackward0", out, self, [dim0, dim1](const Tensor& g) {
    return transpose(g, dim0, dim1);
  });
}

void t_grad(const Tensor& out, const Tensor& self) {
  record_view("TBackward0", out, self, [](const Tensor& g) { return t(g); });
}

void expand_grad(const Tensor& out, const Tensor& self) {
  record_view("ExpandBackward0", out, self,
              [shape = Dims(self.sizes())](const Tensor& g) {
                return sum_to(g, shape);
              });
}

void select_grad(const Tensor& out, const Tensor& self, int64_t dim,
                 int64_t index) {
  record_scatter(
      "SelectBackward0", out, self,
      [dim, index](const Tensor& whole) { return select(whole, dim, index); });
}

void slice_grad(const Tensor& out, const Tensor& self, int64_t dim,
                int64_t start, int64_t end, int64_t step) {
  record_scatter("SliceBackward0", out, self,
                 [dim, start, end, step](const Tensor& whole) {
                   return slice(whole, dim, start, end, step);
                 });
}

void diagonal_grad(const Tensor& out, const Tensor& self, int64_t offset,
                   int64_t dim1, int64_t dim2) {
  record_scatter("DiagonalBackward0", out, self,
                 [offset, dim1, dim2](const Tensor& whole) {
                   return diagonal(whole, offset, dim1, dim2);
                 });
}

void pieces_grad(const char* name, const Tensors& out, const Tensor& self,
                 int64_t dim) {
  record_many(name, out, self, cat, dim);
}

void unbind_grad(const Tensors& out, const Tensor& self, int64_t dim) {
  record_many("UnbindBackward0", out, self, stack, dim);
}

void unfold_grad(const Tensor& out, const Tensor& self, int64_t dim,
                 int64_t step) {
  // Over a dense tensor of the input's shape, whatever its own strides are.
  const Dims shape(self.sizes()), dense = contiguous_strides(shape);
  Dims strides = dense;
  strides.push_back(shape.empty() ? 1 : dense[size_t(dim)]);
  if (!shape.empty())
    strides[size_t(dim)] = scaled_stride(dense[size_t(dim)], step);
  record_view("UnfoldBackward0", out, self,
              [shape, strides, n = self.numel()](const Tensor& g) {
                return view(scatter_strided(g, n, strides, 0), shape);
              });
}

void as_strided_grad(const Tensor& out, const Tensor& self) {
  const int64_t first = std::min(self.storage_offset(), out.storage_offset());
  const int64_t extent =
      std::max(
          self.storage_offset() + storage_extent(self.sizes(), self.strides()),
          out.storage_offset() + storage_extent(out.sizes(), out.strides())) -
      first;
  record_view(
      "AsStridedBackward0", out, self,
      [sizes = Dims(self.sizes()), strides = Dims(self.strides()),
       shared = may_share_elements(self.sizes(), self.strides()),
       offset = self.storage_offset() - first, extent,
       view_strides = Dims(out.strides()),
       view_offset = out.storage_offset() - first](const Tensor& g) {
        Tensor memory = scatter_strided(g, extent, view_strides, view_offset);
        if (shared)
          memory = div(memory, places(g, extent, sizes, strides, offset));
        return as_strided(memory, sizes, strides, offset);
      });
}

Tensor scatter_strided(const Tensor& grad, int64_t extent, IntSpan strides,
                       int64_t offset) {
  const Tensor memory = summed_places(grad, extent, strides, offset);
  if (autograd::needs_grad(grad))
    autograd::record("AsStridedScatterBackward0", memory, {grad}, {},
                     [sizes = Dims(grad.sizes()), strides = Dims(strides),
                      offset](Backward&, const Tensor& g) -> Tensors {
                       const Tensor dense =
                           contiguous(g);  // maybe a slice of more
                       return {as_strided(dense, sizes, strides,
                                          dense.storage_offset() + offset)};
                     });
  return memory;
}

}  // namespace hotaru
