// Gradients of variances and norms over `dims`.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru::grad {

/// For the variance, or its root if `root`.
void var(const Tensor& out, const Tensor& self, IntSpan dims, double correction,
         bool keepdim, bool root);
void var_mean(const Tensor& out, const Tensor& mean, const Tensor& self,
              IntSpan dims, double correction, bool keepdim, bool root);
void vector_norm(const Tensor& out, const Tensor& self, double order,
                 IntSpan dims, bool keepdim);

}  // namespace hotaru::grad
