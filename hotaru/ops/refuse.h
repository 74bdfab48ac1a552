// Dtypes that an operator refuses before any of its kernels is asked, and
// gradients that there are none of.
#pragma once

#include <string>

#include "hotaru/ops/boxing.h"

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

/// Records a node that fails with `text` in the backward pass, if one of the
/// inputs wants a gradient.
void refuse_gradient(const char* node, std::string text, const Tensor& out,
                     const Tensors& inputs);

}  // namespace hotaru
