// The reverse of max pooling, and max pooling over random windows.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "torch/nn/modules/container/any.h"
#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/pooling.h"

namespace torch::nn {

#define HOTARU_TORCH_UNPOOL(D) \
  class MaxUnpool##D##dImpl \
      : public WithOptions<MaxUnpool##D##dImpl, MaxUnpool##D##dOptions> { \
   public: \
    using WithOptions::WithOptions; \
    MaxUnpool##D##dImpl(ExpandingArray<D> kernel_size) \
        : WithOptions(MaxUnpool##D##dOptions(kernel_size)) {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(const Tensor& input, const Tensor& indices, \
                   const std::optional<std::vector<int64_t>>& output_size = \
                       std::nullopt); \
\
   protected: \
    FORWARD_HAS_DEFAULT_ARGS( \
        {2, AnyValue(std::optional<std::vector<int64_t>>())}) \
  }; \
  HOTARU_TORCH_MODULE(MaxUnpool##D##d);
HOTARU_TORCH_UNPOOL(1)
HOTARU_TORCH_UNPOOL(2)
HOTARU_TORCH_UNPOOL(3)
#undef HOTARU_TORCH_UNPOOL

#define HOTARU_TORCH_FRACTIONAL(D) \
  class FractionalMaxPool##D##dImpl \
      : public WithOptions<FractionalMaxPool##D##dImpl, \
                           FractionalMaxPool##D##dOptions> { \
   public: \
    explicit FractionalMaxPool##D##dImpl( \
        FractionalMaxPool##D##dOptions options); \
    FractionalMaxPool##D##dImpl(ExpandingArray<D> kernel_size) \
        : FractionalMaxPool##D \
          ##dImpl(FractionalMaxPool##D##dOptions(kernel_size)) {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(const Tensor& input); \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input); \
  }; \
  HOTARU_TORCH_MODULE(FractionalMaxPool##D##d);
HOTARU_TORCH_FRACTIONAL(2)
HOTARU_TORCH_FRACTIONAL(3)
#undef HOTARU_TORCH_FRACTIONAL

}  // namespace torch::nn
