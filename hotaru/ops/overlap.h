// Tensors that share memory in ways that a write can't respect.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Before a kernel writes each element once: throws PyTorch's error when a
/// dimension repeats its elements (stride 0).
void check_written(const Tensor& out);
/// True if a dimension repeats its elements.
bool repeats(const Tensor& t);
/// A view of the elements that repeating dimensions repeat: these have size 1.
Tensor without_repeats(const Tensor& t);
/// Warns, as PyTorch does, that `op` writes into repeated elements; so does
/// what Python writes as `as`.
void warn_of_repeats(const char* op, const char* as = "tensor[mask] = scalar");
/// Throws PyTorch's error when dense `out` and `in` share some memory, but
/// not element by element. Views with gaps are not looked into.
void check_overlap(const Tensor& out, const Tensor& in);
/// The same where they may not even share all elements.
void check_apart(const Tensor& out, const Tensor& in);

}  // namespace hotaru
