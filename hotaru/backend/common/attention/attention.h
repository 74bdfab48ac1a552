// Parameters of the kernels of fused attention.
#pragma once

#include "hotaru/runtime/kernel.h"

namespace hotaru {

/// The longest rows of query, key and value that the kernels take.
inline constexpr int64_t kMostAttentionWidth = 128;

/// Operands of "attention", all of four dimensions and, but for lse and mask,
/// of one dtype: write out [B, H, L, V], write lse [B, H, L] (float, row-major,
/// the logarithm of a row's sum of exp(scores), infinity without any key; for
/// the CPU, whose gradient needs none, undefined), read
/// query [B, H, L, E], read key [B, G, S, E], read value [B, G, S, V], read
/// mask [B, H, L, S], or an undefined one: bool (which keys take part), or
/// floats to add, of query's dtype or float. Rows lie in one piece but for the
/// mask's. G divides H.
///
/// Operands of "attention_grad": read the gradient of out, read out, read lse,
/// then query, key, value and mask as above; write the gradients of query, key
/// and value, each undefined if it is not wanted.
///
/// Operands of "attention_token", for L = 1, never causal: write out, then
/// query, key, value and mask. Keys that a mask hides are not read; without any
/// key out is zeros.
struct AttentionAttributes {
  float scale = 1;
  /// Position i of the queries sees keys 0 .. i.
  bool causal = false;
};

}  // namespace hotaru
