// Complex tensors from and as real ones.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// A view with a last dimension of two: real and imaginary parts.
Tensor view_as_real(const Tensor& self);
/// The reverse; the last dimension must be 2 and dense.
Tensor view_as_complex(const Tensor& self);
/// Views of the parts; real() of a real tensor is the tensor.
Tensor real(const Tensor& self);
Tensor imag(const Tensor& self);
/// real + i imag; abs * e^(i angle). Operands are real, of one dtype.
Tensor complex(const Tensor& real, const Tensor& imag);
Tensor polar(const Tensor& abs, const Tensor& angle);

}  // namespace hotaru
