// Windows of pictures as columns, and back.
#pragma once

#include "torch/nn/options/fold.h"

namespace torch::nn::functional {

/// (N, C * window, positions) to (N, C, H, W): what overlaps is summed.
inline Tensor fold(const Tensor& input, const FoldFuncOptions& options) {
  TORCH_CHECK(input.dim() == 2 || input.dim() == 3,
              "Input Error: Only unbatched (2D) or batched (3D) input Tensors "
              "are supported (got ",
              input.dim(), "D)");
  return torch::col2im(input, options.output_size(), options.kernel_size(),
                       options.dilation(), options.padding(), options.stride());
}
/// The reverse, without the sums.
inline Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options) {
  TORCH_CHECK(input.dim() == 4,
              "Input Error: Only 4D input Tensors are supported (got ",
              input.dim(), "D)");
  return torch::im2col(input, options.kernel_size(), options.dilation(),
                       options.padding(), options.stride());
}

}  // namespace torch::nn::functional
