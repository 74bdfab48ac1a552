// Attention by several heads, with weights under Python's names.
#pragma once

#include <tuple>

#include "torch/nn/modules/container/any.h"
#include "torch/nn/modules/linear.h"
#include "torch/nn/options/attention.h"

namespace torch::nn {

class MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(
            MultiheadAttentionOptions(embed_dim, num_heads)) {}
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options);
  void reset() override;
  void _reset_parameters();
  /// See functional::multi_head_attention_forward. key_padding_mask (N, S):
  /// true is left out; attn_mask (L, S) or (N * heads, L, S).
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key,
                                     const Tensor& value,
                                     const Tensor& key_padding_mask = {},
                                     bool need_weights = true,
                                     const Tensor& attn_mask = {},
                                     bool average_attn_weights = true);

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight, in_proj_bias;
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  // of other sizes
  Linear out_proj = nullptr;
  Tensor bias_k, bias_v;
  int64_t head_dim = 0;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)},
                           {5, AnyValue(Tensor())}, {6, AnyValue(true)})
};
HOTARU_TORCH_MODULE(MultiheadAttention);

}  // namespace torch::nn
