// Normalisation, as functions.
#pragma once

#include "torch/nn/options/normalization.h"

namespace torch::nn::functional {

/// With running statistics of the caller's, which training updates.
Tensor batch_norm(const Tensor& input, const Tensor& running_mean,
                  const Tensor& running_var,
                  const BatchNormFuncOptions& options = {});
Tensor instance_norm(const Tensor& input,
                     const InstanceNormFuncOptions& options = {});
/// input / max(its p-norm along dim, eps).
Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {});
Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);
/// Over channels: input (N, C, ...), three dimensions at least.
Tensor local_response_norm(const Tensor& input,
                           const LocalResponseNormFuncOptions& options);

}  // namespace torch::nn::functional
