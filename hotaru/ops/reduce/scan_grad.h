// Gradients of running sums and products along a wrapped dimension.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru::grad {

void cumsum(const Tensor& out, const Tensor& self, int64_t dim);
void cumprod(const Tensor& out, const Tensor& self, int64_t dim);
void logcumsumexp(const Tensor& out, const Tensor& self, int64_t dim);

}  // namespace hotaru::grad
