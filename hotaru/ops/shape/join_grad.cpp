#include "hotaru/ops/shape/join_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/join.h"

namespace hotaru::grad {
namespace {

using autograd::Backward;
using autograd::record;

/// Shape and dtype of an input.
struct Part {
  Dims sizes;
  DType dtype;
};

std::vector<Part> parts_of(const Tensors& tensors) {
  std::vector<Part> out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back({t.sizes(), t.dtype()});
  return out;
}

}  // namespace

void cat(const Tensor& out, const Tensors& tensors, int64_t dim) {
  record("CatBackward0", Tensors{out}, tensors, {},
         [parts = parts_of(tensors), dim](Backward& b,
                                          const Tensors& grads) -> Tensors {
           const Tensor& g = grads[0];
           Tensors inputs(parts.size());
           if (!g.defined()) return inputs;
           int64_t start = 0;
           for (size_t i = 0; i < parts.size(); ++i) {
             const auto& [sizes, dtype] = parts[i];
             const bool skipped = int64_t(sizes.size()) != g.dim();
             const int64_t length = skipped ? 0 : sizes[size_t(dim)];
             if (b.needs(i))
               inputs[i] = skipped ? zeros(sizes, {dtype, g.device()})
                                   : to(narrow(g, dim, start, length), dtype);
             start += length;
           }
           return inputs;
         });
}

void stack(const Tensor& out, const Tensors& tensors, int64_t dim) {
  record("StackBackward0", Tensors{out}, tensors, {},
         [parts = parts_of(tensors), dim](Backward& b,
                                          const Tensors& grads) -> Tensors {
           Tensors inputs(parts.size());
           if (!grads[0].defined()) return inputs;
           for (size_t i = 0; i < parts.size(); ++i)
             if (b.needs(i))
               inputs[i] =
                   to(select(grads[0], dim, int64_t(i)), parts[i].dtype);
           return inputs;
         });
}

void repeat(const Tensor& out, const Tensor& self, IntSpan shape) {
  record("RepeatBackward0", out, {self}, {},
         [shape = Dims(shape), sizes = Dims(self.sizes())](
             Backward&, const Tensor& g) -> Tensors {
           if (shape.empty()) return {g};
           Dims repeated;
           for (size_t i = 0; i < shape.size(); i += 2)
             repeated.push_back(int64_t(i));
           return {reshape(sum(reshape(g, shape), repeated), sizes)};
         });
}

void flip(const Tensor& out, const Tensor& self, IntSpan dims) {
  record("FlipBackward0", out, {self}, {},
         [dims = Dims(dims)](Backward&, const Tensor& g) -> Tensors {
           return {hotaru::flip(g, dims)};
         });
}

void roll(const Tensor& out, const Tensor& self, IntSpan shifts, IntSpan dims) {
  // Cut to the size first: the smallest integer has no opposite.
  Dims back(shifts);
  for (size_t i = 0; i < back.size(); ++i) {
    const int64_t size = dims.empty() ? self.numel() : self.size(dims[i]);
    back[i] = size == 0 ? 0 : -(shifts[i] % size);
  }
  record("RollBackward0", out, {self}, {},
         [back, dims = Dims(dims)](Backward&, const Tensor& g) -> Tensors {
           return {hotaru::roll(g, back, dims)};
         });
}

void rot90(const Tensor& out, const Tensor& self, int64_t k, IntSpan dims) {
  record("Rot90Backward0", out, {self}, {},
         [k, dims = Dims(dims)](Backward&, const Tensor& g) -> Tensors {
           return {hotaru::rot90(g, -(k % 4), dims)};
         });
}

void block_diag(const Tensor& out, const Tensors& tensors) {
  record("BlockDiagBackward0", Tensors{out}, tensors, {},
         [parts = parts_of(tensors)](Backward& b,
                                     const Tensors& grads) -> Tensors {
           Tensors inputs(parts.size());
           if (!grads[0].defined()) return inputs;
           int64_t row = 0, column = 0;
           for (size_t i = 0; i < parts.size(); ++i) {
             const auto& [sizes, dtype] = parts[i];
             const size_t n = sizes.size();
             const int64_t rows = n == 2 ? sizes[0] : 1;
             const int64_t columns = n == 0 ? 1 : sizes[n - 1];
             if (b.needs(i))
               inputs[i] = to(reshape(narrow(narrow(grads[0], 0, row, rows), 1,
                                             column, columns),
                                      sizes),
                              dtype);
             row += rows;
             column += columns;
           }
           return inputs;
         });
}

}  // namespace hotaru::grad
