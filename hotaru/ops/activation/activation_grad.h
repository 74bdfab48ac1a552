// Gradients of the activation functions, called only if they have to be
// recorded. `out` may be `self` written in place; then `x`, which the formula
// sees, is a copy of what self was. Formulas called `_result` see out instead.
#pragma once

#include "hotaru/ops/pointwise/elementwise.h"

namespace hotaru::grads {

void leaky_relu(const Tensor& out, const Tensor& self, const Tensor& x,
                const PointwiseNumbers& n);
void elu(const Tensor& out, const Tensor& self, const Tensor& x,
         const PointwiseNumbers& n);
/// In place the input is gone: x <= 0 exactly where the result is.
void elu_result(const Tensor& out, const Tensor& self, const Tensor& x,
                const PointwiseNumbers& n);
void celu(const Tensor& out, const Tensor& self, const Tensor& x,
          const PointwiseNumbers& n);
void celu_result(const Tensor& out, const Tensor& self, const Tensor& x,
                 const PointwiseNumbers& n);
void hardtanh_result(const Tensor& out, const Tensor& self, const Tensor& x,
                     const PointwiseNumbers& n);
void leaky_relu_result(const Tensor& out, const Tensor& self, const Tensor& x,
                       const PointwiseNumbers& n);
void gelu(const Tensor& out, const Tensor& self, const Tensor& x,
          const PointwiseNumbers& n);
void gelu_tanh(const Tensor& out, const Tensor& self, const Tensor& x,
               const PointwiseNumbers& n);
void silu(const Tensor& out, const Tensor& self, const Tensor& x,
          const PointwiseNumbers& n);
void mish(const Tensor& out, const Tensor& self, const Tensor& x,
          const PointwiseNumbers& n);
void hardtanh(const Tensor& out, const Tensor& self, const Tensor& x,
              const PointwiseNumbers& n);
void hardsigmoid(const Tensor& out, const Tensor& self, const Tensor& x,
                 const PointwiseNumbers& n);
void hardswish(const Tensor& out, const Tensor& self, const Tensor& x,
               const PointwiseNumbers& n);
void softplus(const Tensor& out, const Tensor& self, const Tensor& x,
              const PointwiseNumbers& n);
void softshrink(const Tensor& out, const Tensor& self, const Tensor& x,
                const PointwiseNumbers& n);
void hardshrink(const Tensor& out, const Tensor& self, const Tensor& x,
                const PointwiseNumbers& n);
void threshold(const Tensor& out, const Tensor& self, const Tensor& x,
               const PointwiseNumbers& n);
void log_sigmoid(const Tensor& out, const Tensor& self, const Tensor& x,
                 const PointwiseNumbers& n);
void prelu(const Tensor& out, const Tensor& self, const Tensor& slope);

}  // namespace hotaru::grads
