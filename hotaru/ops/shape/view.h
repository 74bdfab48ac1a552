// Views: other geometry over the same memory. Each records its gradient.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Shares memory; throws PyTorch's text when the strides don't allow it.
Tensor view(const Tensor& self, IntSpan size);
/// A view if possible, else a copy.
Tensor reshape(const Tensor& self, IntSpan size);
Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor unflatten(const Tensor& self, int64_t dim, IntSpan sizes);
Tensor as_strided(const Tensor& self, IntSpan size, IntSpan stride,
                  Optional<int64_t> storage_offset = {});
Tensor permute(const Tensor& self, IntSpan dims);
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
/// Transpose of a matrix; vectors are returned as they are.
Tensor t(const Tensor& self);
Tensor select(const Tensor& self, int64_t dim, int64_t index);
Tensor slice(const Tensor& self, int64_t dim, Optional<int64_t> start,
             Optional<int64_t> end, int64_t step = 1);
Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
Tensor squeeze(const Tensor& self);
Tensor squeeze(const Tensor& self, int64_t dim);
Tensor squeeze(const Tensor& self, IntSpan dims);
Tensor unsqueeze(const Tensor& self, int64_t dim);
/// -1 keeps a dimension.
Tensor expand(const Tensor& self, IntSpan size);
Tensor unfold(const Tensor& self, int64_t dimension, int64_t size,
              int64_t step);
Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0,
                int64_t dim2 = 1);
Tensor movedim(const Tensor& self, IntSpan source, IntSpan destination);

/// t, a view of what was made on the way to it and nobody else knows, as a
/// tensor of its own: the user may detach it and write to it.
Tensor without_base(const Tensor& t);

/// Pieces along a dimension.
Tensors split(const Tensor& self, int64_t split_size, int64_t dim = 0);
Tensors split_with_sizes(const Tensor& self, IntSpan sizes, int64_t dim = 0);
Tensors chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);
Tensors unbind(const Tensor& self, int64_t dim = 0);

// Joining copies (ops/shape/join.cpp).
Tensor cat(const Tensors& tensors, int64_t dim = 0);
Tensor stack(const Tensors& tensors, int64_t dim = 0);
Tensor repeat(const Tensor& self, IntSpan repeats);
Tensor flip(const Tensor& self, IntSpan dims);
Tensor roll(const Tensor& self, IntSpan shifts, IntSpan dims);

/// Sums a gradient down to the shape that was broadcast to make it.
Tensor sum_to(const Tensor& grad, IntSpan size);

}  // namespace hotaru
