// Pooling over windows of one to three dimensions.
#pragma once

#include <tuple>

#include "torch/nn/options/pooling.h"

namespace torch::nn::functional {

#define HOTARU_TORCH_POOL(D) \
  Tensor avg_pool##D##d(const Tensor& input, \
                        const AvgPool##D##dFuncOptions& options); \
  Tensor max_pool##D##d(const Tensor& input, \
                        const MaxPool##D##dFuncOptions& options); \
  std::tuple<Tensor, Tensor> max_pool##D##d_with_indices( \
      const Tensor& input, const MaxPool##D##dFuncOptions& options); \
  Tensor adaptive_avg_pool##D##d( \
      const Tensor& input, const AdaptiveAvgPool##D##dFuncOptions& options); \
  Tensor adaptive_max_pool##D##d( \
      const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options); \
  std::tuple<Tensor, Tensor> adaptive_max_pool##D##d_with_indices( \
      const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options);
HOTARU_TORCH_POOL(1)
HOTARU_TORCH_POOL(2)
HOTARU_TORCH_POOL(3)
#undef HOTARU_TORCH_POOL
Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options);
Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options);
Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options);

/// Puts what max pooling found back to its places, zeros elsewhere.
#define HOTARU_TORCH_UNPOOL(D) \
  Tensor max_unpool##D##d(const Tensor& input, const Tensor& indices, \
                          const MaxUnpool##D##dFuncOptions& options);
HOTARU_TORCH_UNPOOL(1)
HOTARU_TORCH_UNPOOL(2)
HOTARU_TORCH_UNPOOL(3)
#undef HOTARU_TORCH_UNPOOL

#define HOTARU_TORCH_FRACTIONAL(D) \
  Tensor fractional_max_pool##D##d( \
      const Tensor& input, const FractionalMaxPool##D##dFuncOptions& options); \
  std::tuple<Tensor, Tensor> fractional_max_pool##D##d_with_indices( \
      const Tensor& input, const FractionalMaxPool##D##dFuncOptions& options);
HOTARU_TORCH_FRACTIONAL(2)
HOTARU_TORCH_FRACTIONAL(3)
#undef HOTARU_TORCH_FRACTIONAL

}  // namespace torch::nn::functional
