// Padding.
#pragma once

#include "torch/nn/options/padding.h"

namespace torch::nn::functional {

Tensor pad(const Tensor& input, const PadFuncOptions& options);

}  // namespace torch::nn::functional
