// Other sizes of pictures.
#pragma once

#include "torch/nn/options/upsampling.h"

namespace torch::nn::functional {

/// Interpolates (N, C, ...) with one to three dimensions behind, to a size or
/// by a factor. Throws PyTorch's texts for modes that the dimensions do not
/// have.
Tensor interpolate(const Tensor& input,
                   const InterpolateFuncOptions& options = {});

}  // namespace torch::nn::functional
