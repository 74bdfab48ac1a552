// Attention as graphs make it of products and a softmax (fuse_attention).
#pragma once

#include "hotaru/backend/common/matmul/matmul.h"
#include "hotaru/core/shape.h"

namespace hotaru {

/// Operands of "softmax_product", float32: write out, read a, read b, read
/// scale (one number), read mask, read v; scale and mask may be undefined:
///   out[i] = softmax(alpha * scale * a[i] @ b[i] + mask[i]) @ v[i]
/// with the softmax along the n scores of each row, a[i] m x k, b[i] k x n,
/// v[i] n x width. The rows of out are contiguous, its matrices out_batch
/// apart; it overlaps nothing. No more than some rows of scores are in memory.
struct SoftmaxProductAttributes {
  int64_t batch = 1, m = 1, n = 1, k = 1, width = 1;
  MatrixStrides a, b, v;
  int64_t out_batch = 0, out_row = 0;
  Scalar alpha = 1;
  /// The dimensions that make up the batch, and the mask's steps along them;
  /// its rows are contiguous, mask_row elements apart.
  Dims lead, mask_lead;
  int64_t mask_row = 0;
  /// As in MatmulAttributes, of the first product and of the second.
  bool bf16_scores = false, bf16_values = false;
};

}  // namespace hotaru
