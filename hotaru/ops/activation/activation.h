// Activation functions beyond relu, sigmoid and tanh
// (ops/pointwise/pointwise.h). Floating dtypes; hardtanh, relu6 and threshold
// integers too.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope = 0.01);
/// scale * (x if x > 0 else alpha * (exp(input_scale * x) - 1)).
Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1,
           const Scalar& input_scale = 1);
/// approximate: "none" or "tanh".
Tensor gelu(const Tensor& self, const std::string& approximate = "none");
Tensor silu(const Tensor& self);
Tensor mish(const Tensor& self);
Tensor hardtanh(const Tensor& self, const Scalar& min_val = -1,
                const Scalar& max_val = 1);
Tensor hardsigmoid(const Tensor& self);
Tensor hardswish(const Tensor& self);
Tensor softplus(const Tensor& self, const Scalar& beta = 1,
                const Scalar& threshold = 20);
Tensor softshrink(const Tensor& self, const Scalar& lambd = 0.5);
Tensor hardshrink(const Tensor& self, const Scalar& lambd = 0.5);
Tensor threshold(const Tensor& self, const Scalar& threshold,
                 const Scalar& value);
Tensor log_sigmoid(const Tensor& self);
/// weight: one slope, or one a channel (dimension 1).
Tensor prelu(const Tensor& self, const Tensor& weight);
/// First half times the logistic function of the second half along dim.
Tensor glu(const Tensor& self, int64_t dim = -1);

}  // namespace hotaru
