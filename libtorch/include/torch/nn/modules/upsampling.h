// Other sizes of pictures.
#pragma once

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/upsampling.h"

namespace torch::nn {

class UpsampleImpl : public WithOptions<UpsampleImpl, UpsampleOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;
};
HOTARU_TORCH_MODULE(Upsample);

}  // namespace torch::nn
