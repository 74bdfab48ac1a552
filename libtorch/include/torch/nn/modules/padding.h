// Padding of the last one to three dimensions.
#pragma once

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/padding.h"

namespace torch::nn {

#define HOTARU_TORCH_PAD(Name, D) \
  class Name##D##dImpl \
      : public WithOptions<Name##D##dImpl, PaddingOptions<D>> { \
   public: \
    using WithOptions::WithOptions; \
    Name##D##dImpl(ExpandingArray<D * 2> padding) \
        : WithOptions(PaddingOptions<D>(padding)) {} \
    Tensor forward(const Tensor& input); \
    void pretty_print(std::ostream& out) const override; \
  }; \
  HOTARU_TORCH_MODULE(Name##D##d);
#define HOTARU_TORCH_PADS(D) \
  HOTARU_TORCH_PAD(ReflectionPad, D) \
  HOTARU_TORCH_PAD(ReplicationPad, D) \
  HOTARU_TORCH_PAD(ZeroPad, D) \
  class ConstantPad##D##dImpl \
      : public WithOptions<ConstantPad##D##dImpl, ConstantPadOptions<D>> { \
   public: \
    using WithOptions::WithOptions; \
    ConstantPad##D##dImpl(ExpandingArray<D * 2> padding, double value) \
        : WithOptions(ConstantPadOptions<D>(padding, value)) {} \
    Tensor forward(const Tensor& input); \
    void pretty_print(std::ostream& out) const override; \
  }; \
  HOTARU_TORCH_MODULE(ConstantPad##D##d);
HOTARU_TORCH_PADS(1)
HOTARU_TORCH_PADS(2)
HOTARU_TORCH_PADS(3)
#undef HOTARU_TORCH_PADS
#undef HOTARU_TORCH_PAD

}  // namespace torch::nn
