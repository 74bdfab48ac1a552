// Special functions whose values other operators' gradients need.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// The n-th derivative of digamma, n >= 0.
Tensor polygamma(int64_t n, const Tensor& self);

}  // namespace hotaru
