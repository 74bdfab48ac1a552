// Gradients of operators on slices along a wrapped dimension.
#pragma once

#include "hotaru/core/scalar.h"
#include "hotaru/core/tensor.h"

namespace hotaru::grad {

void index_select(const Tensor& out, const Tensor& self, int64_t dim,
                  const Tensor& index);
void index_add(const Tensor& out, const Tensor& self, int64_t dim,
               const Tensor& index, const Tensor& source, const Scalar& alpha);
void index_copy(const Tensor& out, const Tensor& self, int64_t dim,
                const Tensor& index, const Tensor& source);
/// `value` is undefined if it was a number.
void index_fill(const Tensor& out, const Tensor& self, int64_t dim,
                const Tensor& index, const Tensor& value);
void embedding(const Tensor& out, const Tensor& weight, const Tensor& indices,
               int64_t padding_idx, bool scale_grad_by_freq);

}  // namespace hotaru::grad
