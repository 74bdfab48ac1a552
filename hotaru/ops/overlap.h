// Tensors that share memory in ways that a write can't respect.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Before a kernel writes each element once: throws PyTorch's error when a
/// dimension repeats its elements (stride 0).
void check_written(const Tensor& out);
/// Throws PyTorch's error when dense `out` and `in` share some memory, but
/// not element by element. Views with gaps are not looked into.
void check_overlap(const Tensor& out, const Tensor& in);

}  // namespace hotaru
