// Scaled dot-product attention (A. Vaswani et al., arXiv:1706.03762).
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

struct AttentionOptions {
  double dropout = 0;
  /// Position i of the queries sees keys 0 .. i.
  bool causal = false;
  /// 1 / sqrt(E) unless given.
  Optional<double> scale;
  /// Heads of keys and values may be fewer: each serves several of queries.
  bool grouped_heads = false;
};

/// query [..., L, E], key [..., S, E], value [..., S, V] give [..., L, V]. mask
/// broadcasts to [..., L, S]: bool says which keys take part, floats are added
/// to the scores; a query without any key gives zeros.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                    const Tensor& value,
                                    const Tensor& mask = {},
                                    const AttentionOptions& options = {});

}  // namespace hotaru
