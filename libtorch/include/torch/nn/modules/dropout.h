// Zeroing at random while training.
#pragma once

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/dropout.h"

namespace torch::nn {

/// Throw for a probability outside of [0, 1].
#define HOTARU_TORCH_DROPOUT(Name) \
  class Name##Impl : public WithOptions<Name##Impl, DropoutOptions> { \
   public: \
    explicit Name##Impl(const DropoutOptions& options = {}); \
    explicit Name##Impl(double p) : Name##Impl(DropoutOptions(p)) {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(Tensor input); \
  }; \
  HOTARU_TORCH_MODULE(Name)
HOTARU_TORCH_DROPOUT(Dropout);
/// Whole channels.
HOTARU_TORCH_DROPOUT(Dropout2d);
HOTARU_TORCH_DROPOUT(Dropout3d);
/// Keeps mean and variance of what SELU gives.
HOTARU_TORCH_DROPOUT(AlphaDropout);
HOTARU_TORCH_DROPOUT(FeatureAlphaDropout);
#undef HOTARU_TORCH_DROPOUT

}  // namespace torch::nn
