// Joining, repeating and rearranging copies; cat, stack, repeat, flip and roll
// are declared in ops/shape/view.h.
#pragma once

#include "hotaru/ops/shape/view.h"

namespace hotaru {

/// Writes stack(tensors, 0) into `out`, which has its shape; dtypes are
/// converted. Records no gradient.
void stack_into(const Tensor& out, const Tensors& tensors);
/// Along the first dimension after making every tensor at least 2-d (vstack),
/// the second (hstack: the first for 1-d tensors) or the third (dstack).
Tensor hstack(const Tensors& tensors);
Tensor vstack(const Tensors& tensors);
Tensor dstack(const Tensors& tensors);
/// As hstack, with 1-d tensors as columns.
Tensor column_stack(const Tensors& tensors);
/// repeat, with missing leading repetitions counted as one.
Tensor tile(const Tensor& self, IntSpan dims);
/// Turns by k quarters in the plane of two dimensions.
Tensor rot90(const Tensor& self, int64_t k, IntSpan dims);
/// Coordinates of a grid; indexing "ij" or "xy".
Tensors meshgrid(const Tensors& tensors, const std::string& indexing = "ij");
Tensor cartesian_prod(const Tensors& tensors);
Tensor block_diag(const Tensors& tensors);

}  // namespace hotaru
