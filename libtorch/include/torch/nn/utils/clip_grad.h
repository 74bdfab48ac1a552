// Limits of gradients.
#pragma once

#include <vector>

#include "torch/types.h"

namespace torch::nn::utils {

/// Scales all gradients so that their norm together is at most max_norm; gives
/// the norm that they had. Throws for one that is not finite if told so.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                       double norm_type = 2.0, bool error_if_nonfinite = false);
double clip_grad_norm_(const Tensor& parameter, double max_norm,
                       double norm_type = 2.0, bool error_if_nonfinite = false);
/// Clamps each element to [-clip_value, clip_value].
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
void clip_grad_value_(const Tensor& parameter, double clip_value);

}  // namespace torch::nn::utils
