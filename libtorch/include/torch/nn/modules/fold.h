// Windows of pictures as columns, and back.
#pragma once

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/fold.h"

namespace torch::nn {

class FoldImpl : public WithOptions<FoldImpl, FoldOptions> {
 public:
  using WithOptions::WithOptions;
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : WithOptions(FoldOptions(output_size, kernel_size)) {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;
};
HOTARU_TORCH_MODULE(Fold);

class UnfoldImpl : public WithOptions<UnfoldImpl, UnfoldOptions> {
 public:
  using WithOptions::WithOptions;
  UnfoldImpl(ExpandingArray<2> kernel_size)
      : WithOptions(UnfoldOptions(kernel_size)) {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;
};
HOTARU_TORCH_MODULE(Unfold);

}  // namespace torch::nn
