// Unsigned integers of more than a byte, which kernels do not sort, as signed
// ones in the same order.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Signed integers in the order of `self`, which is of such a dtype.
Tensor in_signed_order(const Tensor& self);
/// Back to the dtype that they came from.
Tensor from_signed_order(const Tensor& ordered, DType dtype);

}  // namespace hotaru
