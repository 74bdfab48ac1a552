// Gradients of the activation functions: each records `out`, which may be
// `self` written in place, and is called only if that is needed. Formulas are
// of the input unless the name says `_result`.
#pragma once

#include "hotaru/ops/elementwise.h"

namespace hotaru::grads {

void leaky_relu(const Tensor& out, const Tensor& self,
                const PointwiseNumbers& n);
void elu(const Tensor& out, const Tensor& self, const PointwiseNumbers& n);
/// In place the input is gone: x <= 0 exactly where the result is.
void elu_result(const Tensor& out, const Tensor& self,
                const PointwiseNumbers& n);
void celu(const Tensor& out, const Tensor& self, const PointwiseNumbers& n);
void celu_result(const Tensor& out, const Tensor& self,
                 const PointwiseNumbers& n);
void leaky_relu_result(const Tensor& out, const Tensor& self,
                       const PointwiseNumbers& n);
void gelu(const Tensor& out, const Tensor& self, const PointwiseNumbers& n);
void gelu_tanh(const Tensor& out, const Tensor& self,
               const PointwiseNumbers& n);
void silu(const Tensor& out, const Tensor& self, const PointwiseNumbers& n);
void mish(const Tensor& out, const Tensor& self, const PointwiseNumbers& n);
void hardtanh(const Tensor& out, const Tensor& self, const PointwiseNumbers& n);
void hardsigmoid(const Tensor& out, const Tensor& self,
                 const PointwiseNumbers& n);
void hardswish(const Tensor& out, const Tensor& self,
               const PointwiseNumbers& n);
void softplus(const Tensor& out, const Tensor& self, const PointwiseNumbers& n);
void softshrink(const Tensor& out, const Tensor& self,
                const PointwiseNumbers& n);
void hardshrink(const Tensor& out, const Tensor& self,
                const PointwiseNumbers& n);
void threshold(const Tensor& out, const Tensor& self,
               const PointwiseNumbers& n);
void log_sigmoid(const Tensor& out, const Tensor& self,
                 const PointwiseNumbers& n);
void prelu(const Tensor& out, const Tensor& self, const Tensor& slope);

}  // namespace hotaru::grads
