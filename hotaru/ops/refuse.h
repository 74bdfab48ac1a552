// Dtypes that an operator refuses before any of its kernels is asked.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Throws NotImplementedError in PyTorch's words, which name its kernel, unless
/// the elements are real floating-point numbers.
inline void check_floating(const char* kernel, const Tensor& t) {
  if (!t.is_floating_point()) refuse_dtype(kernel, t.dtype());
}
/// The same, but complex numbers pass.
inline void check_inexact(const char* kernel, const Tensor& t) {
  if (!is_differentiable(t.dtype())) refuse_dtype(kernel, t.dtype());
}

}  // namespace hotaru
