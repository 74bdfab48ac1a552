// Channels as pixels, and back.
#pragma once

#include "torch/nn/options/pixelshuffle.h"

namespace torch::nn::functional {

/// (..., C * r^2, H, W) to (..., C, H * r, W * r).
inline Tensor pixel_shuffle(const Tensor& input,
                            const PixelShuffleFuncOptions& options) {
  return torch::pixel_shuffle(input, options.upscale_factor());
}
inline Tensor pixel_unshuffle(const Tensor& input,
                              const PixelUnshuffleFuncOptions& options) {
  return torch::pixel_unshuffle(input, options.downscale_factor());
}

}  // namespace torch::nn::functional
