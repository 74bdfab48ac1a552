// Pictures sampled at places.
#pragma once

#include "torch/nn/options/vision.h"

namespace torch::nn::functional {

/// Places (N, H, W, 2) of theta (N, 2, 3), or (N, D, H, W, 3) of (N, 3, 4).
Tensor affine_grid(const Tensor& theta, at::IntArrayRef size,
                   bool align_corners = false);
/// input at the places of a grid, in [-1, 1].
Tensor grid_sample(const Tensor& input, const Tensor& grid,
                   const GridSampleFuncOptions& options = {});

}  // namespace torch::nn::functional
