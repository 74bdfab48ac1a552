// Gradients of sums, products and means. Each records a node for `out`, the
// reduction of self over `dims` (empty: the overload without dim).
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru::grad {

/// Products of all the others along a dimension, without division, so zeros
/// do no harm: those before times those after.
Tensor product_of_others(const Tensor& x, int64_t dim);

void sum(const Tensor& out, const Tensor& self, IntSpan dims, bool keepdim);
void nansum(const Tensor& out, const Tensor& self, IntSpan dims, bool keepdim);
void mean(const Tensor& out, const Tensor& self, IntSpan dims, bool keepdim);
void prod(const Tensor& out, const Tensor& self, IntSpan dims, bool keepdim);
void logsumexp(const Tensor& out, const Tensor& self, IntSpan dims,
               bool keepdim);

}  // namespace hotaru::grad
