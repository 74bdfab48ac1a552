// Linear maps with weights of the caller's.
#pragma once

#include "torch/types.h"

namespace torch::nn::functional {

/// input (..., in), weight (out, in), bias (out).
inline Tensor linear(const Tensor& input, const Tensor& weight,
                     const Tensor& bias = {}) {
  return torch::linear(input, weight, bias);
}
/// weight (out, in1, in2).
inline Tensor bilinear(const Tensor& input1, const Tensor& input2,
                       const Tensor& weight, const Tensor& bias = {}) {
  return torch::bilinear(input1, input2, weight, bias);
}

}  // namespace torch::nn::functional
