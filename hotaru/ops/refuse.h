// Dtypes and numbers that an operator refuses before any of its kernels is
// asked, results that do not fit, and gradients that there are none of.
#pragma once

#include <string>

#include "hotaru/core/checks/check.h"
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
/// Throws unless what was computed in `result` can be written as `wanted`.
inline void check_can_cast(DType result, DType wanted) {
  HOTARU_CHECK(
      can_cast(result, wanted), "result type ", scalar_type_name(result),
      " can't be cast to the desired output type ", scalar_type_name(wanted));
}

/// Throws unless elements of `dtype` can be multiplied by `value`, an argument
/// called `name`, and stay of that dtype.
void check_factor(const char* name, DType dtype, const Scalar& value);

/// Throws PyTorch's error if a derivative by `t` would be recorded, an argument
/// of `function` that there is none of.
void check_constant(const char* function, const char* argument,
                    const Tensor& t);

/// Records a node that fails with `text` in the backward pass, if one of the
/// inputs wants a gradient.
void refuse_gradient(const char* node, std::string text, const Tensor& out,
                     const Tensors& inputs);

/// The same for an operator that PyTorch has no node for.
void refuse_gradient(const char* op, const Tensor& out, const Tensors& inputs);

}  // namespace hotaru
