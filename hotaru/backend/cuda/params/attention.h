// Parameters of fused attention, and how its kernels are launched. <width> is
// attention_width(): how long rows may be.
//
//   Attention<width>_<suffix>       out and lse
//   AttentionDelta_<suffix>         delta, which the other two need
//   AttentionQuery<width>_<suffix>  query's gradient
//   AttentionKeys<width>_<suffix>   those of key and value
//   AttentionTensor<width>_<suffix>, AttentionTensorQuery..., ...Keys...
//                                   the same of 16-bit floats by tensor cores,
//                                   for rows that all have `chunks`
//   parameters   AttentionParams
//   grid         attention_blocks(p.queries, p.heads, owned) a batch; the last
//                kernel attention_blocks(p.keys, p.heads / p.group, owned);
//                AttentionDelta attention_delta_blocks(p)
//   block        kBlock
//   shared       attention_shared(width, kAttentionKeys), of gradients
//                attention_grad_shared(width); with tensor cores
//                attention_tensor_shared(); AttentionDelta none; threads wait
//                for each other
//
// Suffixes are those of params/types.h, of float and shorter.
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// Rows of a tensor [batch, head, row, width], whose elements lie side by side.
struct AttentionRows {
  void* data = nullptr;
  /// In elements.
  int64_t batch = 0, head = 0, row = 0;
  /// Set if four elements from a multiple of four on are one word, and if eight
  /// of 16 bits are 16 bytes at a multiple of that.
  bool vectors = false, chunks = false;
};

enum class AttentionMask : uint32_t { kNone, kBool, kElements, kFloats };

struct AttentionParams {
  /// The last three may be without data.
  AttentionRows query, key, value, out, grad, query_grad, key_grad, value_grad;
  const void* mask = nullptr;
  /// In elements; 0 where it broadcasts.
  int64_t mask_batch = 0, mask_head = 0, mask_row = 0, mask_key = 0;
  /// [batch, head, query]; delta is the sum of grad * out over a row.
  float *lse = nullptr, *delta = nullptr;
  uint32_t batches = 0, heads = 0, queries = 0, keys = 0;
  /// Heads of queries that share one of keys and values.
  uint32_t group = 1;
  uint32_t key_width = 0, value_width = 0;
  AttentionMask mask_kind = AttentionMask::kNone;
  float scale = 1;
  bool causal = false;
};

/// Rows that a block owns, and those of the other side that it goes through at
/// a time, forwards and for gradients.
inline constexpr uint32_t kAttentionOwn = 64;
inline constexpr uint32_t kAttentionKeys = 64;
inline constexpr uint32_t kAttentionGradRows = 32;

/// How long a row of a tile in shared memory is: 16 bytes more, so that rows
/// that are read at once lie in different banks.
constexpr uint32_t tile_pitch(uint32_t width) {
  return width + 4;
}
/// The shortest rows that there are kernels for; 0 if there are none.
constexpr uint32_t attention_width(int64_t longest) {
  return longest <= 32 ? 32 : longest <= 64 ? 64 : longest <= 128 ? 128 : 0;
}
/// Tiles of owned rows, of the others, and of scores; all are float.
constexpr uint32_t attention_shared(uint32_t width, uint32_t others,
                                    uint32_t owned = 1) {
  return 4 * ((owned * kAttentionOwn + others) * tile_pitch(width) +
              kAttentionOwn * tile_pitch(others));
}
constexpr uint32_t attention_grad_shared(uint32_t width) {
  return attention_shared(width, kAttentionGradRows, 2);
}
/// Shared memory that a block may have on every device from sm_80 on (CUDA's
/// guide, table of compute capabilities: 99 KiB on 8.6 and 8.9).
inline constexpr uint32_t kMostAttentionShared = 99 << 10;
static_assert(attention_shared(128, kAttentionKeys) <= kMostAttentionShared);
static_assert(attention_grad_shared(128) <= kMostAttentionShared);

/// With tensor cores: rows that a block owns, 16 a warp, and those of the other
/// side that it goes through at a time.
inline constexpr uint32_t kAttentionTensorOwn = 128;
constexpr uint32_t attention_tensor_keys(uint32_t width) {
  return width > 64 ? 32 : 64;
}
inline constexpr uint32_t kAttentionTensorGradRows = 32;
/// `owned` tiles of owned rows, and two pairs of the others, 2 bytes an
/// element.
constexpr uint32_t attention_tensor_shared(uint32_t width, uint32_t others,
                                           uint32_t owned) {
  return 2 * width * (owned * kAttentionTensorOwn + 4 * others);
}
static_assert(attention_tensor_shared(128, attention_tensor_keys(128), 1) <=
              kMostAttentionShared);
static_assert(attention_tensor_shared(128, kAttentionTensorGradRows, 2) <=
              kMostAttentionShared);

constexpr int64_t attention_blocks(uint32_t rows, uint32_t heads,
                                   uint32_t owned) {
  return ceil_divide(rows, owned) * heads;
}
/// A warp has a row.
constexpr int64_t attention_delta_blocks(const AttentionParams& p) {
  return ceil_divide(int64_t{p.batches} * p.heads * p.queries, kBlock / 32);
}

}  // namespace hotaru::cuda
