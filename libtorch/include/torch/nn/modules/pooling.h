// Pooling as modules.
#pragma once

#include <tuple>

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/pooling.h"

namespace torch::nn {

#define HOTARU_TORCH_POOL(Name, Size) \
  class Name##Impl : public WithOptions<Name##Impl, Name##Options> { \
   public: \
    using WithOptions::WithOptions; \
    Name##Impl(Size size) : WithOptions(Name##Options(size)) {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(const Tensor& input); \
  }; \
  HOTARU_TORCH_MODULE(Name)
HOTARU_TORCH_POOL(AvgPool1d, ExpandingArray<1>);
HOTARU_TORCH_POOL(AvgPool2d, ExpandingArray<2>);
HOTARU_TORCH_POOL(AvgPool3d, ExpandingArray<3>);
HOTARU_TORCH_POOL(AdaptiveAvgPool1d, ExpandingArray<1>);
HOTARU_TORCH_POOL(AdaptiveAvgPool2d, ExpandingArrayWithOptionalElem<2>);
HOTARU_TORCH_POOL(AdaptiveAvgPool3d, ExpandingArrayWithOptionalElem<3>);
#undef HOTARU_TORCH_POOL

/// With the positions of the largest elements, if they are asked for.
#define HOTARU_TORCH_POOL(Name, Size) \
  class Name##Impl : public WithOptions<Name##Impl, Name##Options> { \
   public: \
    using WithOptions::WithOptions; \
    Name##Impl(Size size) : WithOptions(Name##Options(size)) {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(const Tensor& input); \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input); \
  }; \
  HOTARU_TORCH_MODULE(Name)
HOTARU_TORCH_POOL(MaxPool1d, ExpandingArray<1>);
HOTARU_TORCH_POOL(MaxPool2d, ExpandingArray<2>);
HOTARU_TORCH_POOL(MaxPool3d, ExpandingArray<3>);
HOTARU_TORCH_POOL(AdaptiveMaxPool1d, ExpandingArray<1>);
HOTARU_TORCH_POOL(AdaptiveMaxPool2d, ExpandingArrayWithOptionalElem<2>);
HOTARU_TORCH_POOL(AdaptiveMaxPool3d, ExpandingArrayWithOptionalElem<3>);
#undef HOTARU_TORCH_POOL

#define HOTARU_TORCH_POOL(D) \
  class LPPool##D##dImpl \
      : public WithOptions<LPPool##D##dImpl, LPPool##D##dOptions> { \
   public: \
    using WithOptions::WithOptions; \
    LPPool##D##dImpl(double norm_type, ExpandingArray<D> kernel_size) \
        : WithOptions(LPPool##D##dOptions(norm_type, kernel_size)) {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(const Tensor& input); \
  }; \
  HOTARU_TORCH_MODULE(LPPool##D##d)
HOTARU_TORCH_POOL(1);
HOTARU_TORCH_POOL(2);
HOTARU_TORCH_POOL(3);
#undef HOTARU_TORCH_POOL

}  // namespace torch::nn
