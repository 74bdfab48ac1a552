// Convolutions of one to three dimensions with weights of the caller's.
#pragma once

#include "torch/nn/options/conv.h"

namespace torch::nn::functional {

#define HOTARU_TORCH_CONVOLUTION(D) \
  Tensor conv##D##d(const Tensor& input, const Tensor& weight, \
                    const Conv##D##dFuncOptions& options = {}); \
  Tensor conv_transpose##D##d( \
      const Tensor& input, const Tensor& weight, \
      const ConvTranspose##D##dFuncOptions& options = {});
HOTARU_TORCH_CONVOLUTION(1)
HOTARU_TORCH_CONVOLUTION(2)
HOTARU_TORCH_CONVOLUTION(3)
#undef HOTARU_TORCH_CONVOLUTION

}  // namespace torch::nn::functional
