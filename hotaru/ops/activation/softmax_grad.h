// Gradients of softmax and log_softmax, from their results.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// The gradients as operators of their own, as TorchScript knows them; the
/// result is converted to input_dtype.
Tensor softmax_backward_data(const Tensor& grad, const Tensor& output,
                             int64_t dim, DType input_dtype);
Tensor log_softmax_backward_data(const Tensor& grad, const Tensor& output,
                                 int64_t dim, DType input_dtype);

namespace grad {
void softmax(const Tensor& out, const Tensor& self, int64_t dim);
void log_softmax(const Tensor& out, const Tensor& self, int64_t dim);
}  // namespace grad

}  // namespace hotaru
