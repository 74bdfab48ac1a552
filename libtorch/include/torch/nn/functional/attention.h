// Attention by several heads.
#pragma once

#include <tuple>

#include "torch/nn/options/attention.h"

namespace torch::nn::functional {

/// query (L, N, E), key (S, N, kdim), value (S, N, vdim): the result (L, N, E)
/// and the weights (N, L, S), averaged over heads, or undefined.
std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options);

}  // namespace torch::nn::functional
