// Gradients of running sums and products along a wrapped dimension.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru::grad {

void cumsum(const Tensor& out, const Tensor& self, int64_t dim);
void cumprod(const Tensor& out, const Tensor& self, int64_t dim);
void logcumsumexp(const Tensor& out, const Tensor& self, int64_t dim);

/// Computes for each element the product of those before it, 1 for the first.
/// There is one element at least.
Tensor products_before(const Tensor& x, int64_t dim);

}  // namespace hotaru::grad
