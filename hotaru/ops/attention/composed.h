// Attention by products and a softmax, with the whole matrix of scores: for
// every dtype, on every device.
#pragma once

#include "hotaru/ops/attention/attention.h"

namespace hotaru {

/// Factor that scores are multiplied by: 1 / sqrt(E) unless given.
double attention_scale(const Tensor& query, const AttentionOptions& options);

Tensor composed_attention(const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& mask,
                          const AttentionOptions& options);

/// Gradients of query, key and value, by operators that have gradients. All of
/// four dimensions; without dropout. grad: that of the result.
Tensors composed_attention_grad(const Tensor& grad, const Tensor& query,
                                const Tensor& key, const Tensor& value,
                                const Tensor& mask,
                                const AttentionOptions& options);

}  // namespace hotaru
