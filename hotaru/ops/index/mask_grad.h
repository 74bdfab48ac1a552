// Gradients of operators with masks.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru::grad {

/// `shape` is what self and mask broadcast to.
void masked_select(const Tensor& out, const Tensor& self, const Tensor& mask,
                   IntSpan shape);
void masked_scatter(const Tensor& out, const Tensor& self, const Tensor& mask,
                    const Tensor& source);

}  // namespace hotaru::grad
