// Normalisation layers. Floating dtypes; weights and running statistics have
// the input's dtype, or float32 beside 16-bit inputs.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// input [N, C, ...]; weight, bias and running statistics [C] or undefined.
/// Training normalises by the batch and moves the running statistics towards
/// it by `momentum`; else the running statistics, which must be there, are
/// used.
Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var,
                  bool training, double momentum, double eps);
/// Over the last dimensions, whose sizes normalized_shape lists.
Tensor layer_norm(const Tensor& input, IntSpan normalized_shape,
                  const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// input [N, C, ...]: over each of num_groups groups of channels.
Tensor group_norm(const Tensor& input, int64_t num_groups,
                  const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// Over each channel of each sample by itself.
Tensor instance_norm(const Tensor& input, const Tensor& weight,
                     const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, bool use_input_stats,
                     double momentum, double eps);
/// x / sqrt(mean(x^2) + eps) * weight; eps defaults to the dtype's epsilon.
Tensor rms_norm(const Tensor& input, IntSpan normalized_shape,
                const Tensor& weight = {}, Optional<double> eps = {});

}  // namespace hotaru
