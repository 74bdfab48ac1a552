// Functions of complex numbers that have no kernel of their own: made of those
// of their parts, without gradients. Results have the operand's dtype.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru::elementary {

Tensor complex_exp2(const Tensor& z);
Tensor complex_log2(const Tensor& z);
/// Exact to rounding near 0, too.
Tensor complex_expm1(const Tensor& z);
Tensor complex_log1p(const Tensor& z);
/// log(exp(x) + exp(y)), from the one with the larger real part; broadcast,
/// both of one dtype.
Tensor complex_logaddexp(const Tensor& x, const Tensor& y);

}  // namespace hotaru::elementary
