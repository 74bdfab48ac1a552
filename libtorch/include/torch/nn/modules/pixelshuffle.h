// Channels as pixels, and back.
#pragma once

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/pixelshuffle.h"

namespace torch::nn {

class PixelShuffleImpl
    : public WithOptions<PixelShuffleImpl, PixelShuffleOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;
};
HOTARU_TORCH_MODULE(PixelShuffle);

class PixelUnshuffleImpl
    : public WithOptions<PixelUnshuffleImpl, PixelUnshuffleOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;
};
HOTARU_TORCH_MODULE(PixelUnshuffle);

}  // namespace torch::nn
