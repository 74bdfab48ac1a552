// Common parts of the kernels of fused attention by tensor cores: rows of
// 16-bit floats in shared memory, and products whose sums are a warp's.
#pragma once

#include "hotaru/backend/cuda/device/attention/scores.h"
#include "hotaru/backend/cuda/device/tensor_tile.h"

namespace hotaru::cuda::tensor_attention {

inline constexpr uint32_t kOwn = kAttentionTensorOwn;
inline constexpr uint32_t kWarpRows = 16, kSharers = 4;
static_assert(kBlock / kWarp * kWarpRows == kOwn);

/// A warp's rows of a result, kWarpRows x kColumns: the thread has rows row(0)
/// and row(1) of them, and the columns column(j, 0) and column(j, 1).
template <uint32_t kColumns>
using Sums = Quad[kColumns / 8];
/// The same, each row's numbers side by side.
template <uint32_t kColumns>
using Rows = float[2][kColumns / 4];

/// The first of the warp's rows in a tile of owned ones.
__device__ inline uint32_t warp_row() {
  return threadIdx.x / kWarp * kWarpRows;
}
__device__ inline uint32_t row(uint32_t r) {
  return warp_row() + threadIdx.x % kWarp / 4 + r * 8;
}
__device__ inline uint32_t column(uint32_t j, uint32_t c) {
  return j * 8 + threadIdx.x % 4 * 2 + c;
}

/// to = f(r, number, column, to) of all numbers of a thread; to may be new.
template <uint32_t kColumns, class F>
__device__ inline void put_numbers(Rows<kColumns>& to,
                                   const Sums<kColumns>& sums, const F& f) {
  HOTARU_UNROLL
  for (uint32_t j = 0; j < kColumns / 8; ++j) HOTARU_UNROLL
  for (uint32_t c = 0; c < 2; ++c) HOTARU_UNROLL
  for (uint32_t r = 0; r < 2; ++r) {
    float& x = to[r][2 * j + c];
    x = f(r, sums[j][2 * r + c], column(j, c), x);
  }
}

/// Scores of products: as they are times `scale`, or what `score` makes of
/// them, (product, r, column).
template <uint32_t kColumns, class F>
__device__ inline void put_scores(Rows<kColumns>& to,
                                  const Sums<kColumns>& products, float scale,
                                  bool plain, const F& score) {
  if (plain)
    put_numbers<kColumns>(
        to, products,
        [&](uint32_t, float x, uint32_t, float) { return scale * x; });
  else
    put_numbers<kColumns>(to, products,
                          [&](uint32_t r, float x, uint32_t c, float) {
                            return score(scale * x, r, c);
                          });
}

/// Begins to bring rows [first, end) of a head into a tile of kRows; what is
/// beyond them or beyond `width` becomes 0.
template <class T, uint32_t kRows, uint32_t kWidth>
__device__ inline void bring(char* tile, const AttentionRows& rows,
                             uint32_t batch, uint32_t head, uint32_t first,
                             uint32_t end, uint32_t width) {
  constexpr uint32_t kChunks = kWidth / kChunk;
  const Stored<T>* from = rows_of<T>(rows, batch, head, first);
  for (uint32_t n = threadIdx.x; n < kRows * kChunks; n += kBlock) {
    const uint32_t i = n / kChunks, chunk = n % kChunks;
    const uint32_t begin = chunk * kChunk;
    const uint32_t left = first + i < end && begin < width ? width - begin : 0;
    copy_async(tile + TensorTile<kWidth>::offset(i, chunk),
               left ? from + int64_t(i) * rows.row + begin : from,
               left < kChunk ? left * 2 : kChunk * 2);
  }
}

/// The same of keys and of values, one tile behind the other.
template <class T, uint32_t kKeys, uint32_t kWidth>
__device__ inline void bring_keys(char* to, const AttentionParams& p,
                                  uint32_t batch, uint32_t group,
                                  uint32_t first) {
  bring<T, kKeys, kWidth>(to, p.key, batch, group, first, p.keys, p.key_width);
  bring<T, kKeys, kWidth>(to + kKeys * kWidth * 2, p.value, batch, group, first,
                          p.keys, p.value_width);
}
/// Brings queries and their results' gradients.
template <class T, uint32_t kQueries, uint32_t kWidth>
__device__ inline void bring_queries(char* to, const AttentionParams& p,
                                     uint32_t batch, uint32_t head,
                                     uint32_t first) {
  bring<T, kQueries, kWidth>(to, p.query, batch, head, first, p.queries,
                             p.key_width);
  bring<T, kQueries, kWidth>(to + kQueries * kWidth * 2, p.grad, batch, head,
                             first, p.queries, p.value_width);
}

/// sums += the warp's rows of a times the rows of b, both kDepth long;
/// operands of kTogether steps are in registers at once.
template <class T, uint32_t kColumns, uint32_t kDepth, uint32_t kTogether>
__device__ inline void add_product_of_rows(Sums<kColumns>& sums, const char* a,
                                           const char* b) {
  HOTARU_NO_UNROLL
  for (uint32_t some = 0; some < kDepth; some += kTogether * 16) HOTARU_UNROLL
  for (uint32_t k = some; k < some + kTogether * 16; k += 16) {
    uint32_t x[4];
    TensorTile<kDepth>::template load<true, false>(x, a, warp_row(), k);
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kColumns / 16; ++j) {
      TensorPair y;
      load_pair<kDepth, true>(y, b, j * 16, k);
      multiply_add<T>(sums[2 * j], x, y[0]);
      multiply_add<T>(sums[2 * j + 1], x, y[1]);
    }
  }
}

template <class T>
__device__ inline uint32_t pair_of(float x, float y) {
  Vector<T, 2> v;
  narrow_pair<T>(v, 0, x, y);
  return v.at[0] | uint32_t(v.at[1]) << 16;
}

/// sums += w b for a b of kDepth rows, kColumns long.
template <class T, uint32_t kColumns, uint32_t kDepth>
__device__ inline void add_weighted(Sums<kColumns>& sums, const Rows<kDepth>& w,
                                    const char* b) {
  HOTARU_UNROLL
  for (uint32_t k = 0; k < kDepth / 16; ++k) {
    const uint32_t x[4] = {pair_of<T>(w[0][4 * k], w[0][4 * k + 1]),
                           pair_of<T>(w[1][4 * k], w[1][4 * k + 1]),
                           pair_of<T>(w[0][4 * k + 2], w[0][4 * k + 3]),
                           pair_of<T>(w[1][4 * k + 2], w[1][4 * k + 3])};
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kColumns / 16; ++j) {
      TensorPair y;
      load_pair<kColumns, false>(y, b, j * 16, k * 16);
      multiply_add<T>(sums[2 * j], x, y[0]);
      multiply_add<T>(sums[2 * j + 1], x, y[1]);
    }
  }
}

/// Writes the warp's rows, each times its factor, up to row `end` of the head.
template <class T, uint32_t kWidth>
__device__ inline void put(const Sums<kWidth>& sums, const float (&factors)[2],
                           const AttentionRows& to, const Place<kOwn>& own,
                           uint32_t end, uint32_t width) {
  HOTARU_UNROLL
  for (uint32_t r = 0; r < 2; ++r) {
    const uint32_t at = own.first + row(r);
    if (at >= end) continue;
    Stored<T>* line = rows_of<T>(to, own.batch, own.head, at);
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kWidth / 8; ++j) {
      const uint32_t i = column(j, 0);
      const float x = sums[j][2 * r] * factors[r];
      const float y = sums[j][2 * r + 1] * factors[r];
      if (to.vectors && i + 1 < width) {
        *reinterpret_cast<uint32_t*>(line + i) = pair_of<T>(x, y);
      } else {
        if (i < width) line[i] = narrow<T>(x);
        if (i + 1 < width) line[i + 1] = narrow<T>(y);
      }
    }
  }
}

/// True unless the warp's last row takes no part, as then no row of it does.
__device__ inline bool is_seen(const AttentionParams& p,
                               const Place<kOwn>& queries, uint32_t key) {
  return !p.causal || key < queries.first + warp_row() + kWarpRows;
}

/// Behind the last key that a block's queries see.
__device__ inline uint32_t last_key(const AttentionParams& p,
                                    const Place<kOwn>& queries) {
  return p.causal && queries.first + kOwn < p.keys ? queries.first + kOwn
                                                   : p.keys;
}

}  // namespace hotaru::cuda::tensor_attention
