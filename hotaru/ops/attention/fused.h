// Attention by kernels that keep no scores in memory, on devices that have
// them (backend/common/attention/attention.h).
#pragma once

#include "hotaru/ops/attention/attention.h"

namespace hotaru {

/// Tells whether the device has the kernels; the CPU's are for many scores,
/// others are products and softmax, of which graphs make one call, and so are
/// float32 ones that may round to bfloat16 and want no gradient.
bool has_fused_attention(const Tensor& query, const Tensor& key,
                         const Tensor& value);
/// Why they cannot serve this call; empty if they can.
std::string fused_refusal(const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& mask,
                          const AttentionOptions& options);
/// True if query is one token for which the CPU has a kernel, and no gradient
/// is wanted; fused_refusal() is empty then.
bool is_token_attention(const Tensor& query, const Tensor& key,
                        const Tensor& value, const Tensor& mask,
                        const AttentionOptions& options);
/// Attention of it, which reads keys and values once and as they are.
Tensor token_attention(const Tensor& query, const Tensor& key,
                       const Tensor& value, const Tensor& mask,
                       const AttentionOptions& options);

/// Where has_fused_attention() and fused_refusal() is empty. Gradients are the
/// kernels', too, but for those of gradients.
Tensor fused_attention(const Tensor& query, const Tensor& key,
                       const Tensor& value, const Tensor& mask,
                       const AttentionOptions& options);

}  // namespace hotaru
