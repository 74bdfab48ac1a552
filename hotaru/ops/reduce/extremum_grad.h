// Gradients of extremes.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru::grad {

/// Records that `out` is an extreme of self over `dims`; the gradient is
/// shared evenly among the elements equal to it.
void extremum(const char* name, const Tensor& out, const Tensor& self,
              IntSpan dims, bool keepdim);
void aminmax(const Tensor& smallest, const Tensor& largest, const Tensor& self,
             IntSpan dims, bool keepdim);

}  // namespace hotaru::grad
