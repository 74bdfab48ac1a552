#include "hotaru/ops/shape/view_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
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

void as_strided_grad(const Tensor& out, const Tensor& self, const char* name) {
  const int64_t first = std::min(self.storage_offset(), out.storage_offset());
  const int64_t extent =
      std::max(
          self.storage_offset() + storage_extent(self.sizes(), self.strides()),
          out.storage_offset() + storage_extent(out.sizes(), out.strides())) -
      first;
  record_view(name, out, self,
              [sizes = Dims(self.sizes()), strides = Dims(self.strides()),
               offset = self.storage_offset() - first, extent,
               view_strides = Dims(out.strides()),
               view_offset = out.storage_offset() - first](const Tensor& g) {
                const Tensor memory =
                    scatter_strided(g, extent, view_strides, view_offset);
                return as_strided(memory, sizes, strides, offset);
              });
}

Tensor scatter_strided(const Tensor& grad, int64_t extent, IntSpan strides,
                       int64_t offset) {
  const Tensor memory = zeros(Dims{extent}, TensorOptions(grad));
  const Tensor view = make_tensor(memory.storage(), grad.dtype(), grad.sizes(),
                                  strides, offset);
  enqueue(kScatterStrided, {update(view), read(grad)});
  if (autograd::needs_grad(grad))
    autograd::record(
        "AsStridedScatterBackward0", memory, {grad}, {},
        [sizes = Dims(grad.sizes()), strides = Dims(strides), offset](
            Backward&, const Tensor& g) -> Tensors {
          return {as_strided(contiguous(g), sizes, strides, offset)};
        });
  return memory;
}

}  // namespace hotaru
