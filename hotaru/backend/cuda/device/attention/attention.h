// Fused attention's forward with operands in float, see attention.cu. What
// becomes of a result is the caller's: kernels that are compiled at run time go
// on with it (fused/attention_text.h).
#pragma once

#include "hotaru/backend/cuda/device/attention/scores.h"
#include "hotaru/backend/cuda/device/tiles.h"

namespace hotaru::cuda {

template <class T, uint32_t kRows, uint32_t kWidth>
__device__ inline void fill_rows(float* tile, const AttentionRows& r,
                                 uint32_t batch, uint32_t head, uint32_t row,
                                 uint32_t end, uint32_t width,
                                 float factor = 1) {
  fill_tile<T, kRows, kWidth>(tile, rows_of<T>(r, batch, head, row), r.row,
                              end - row, width, r.vectors, factor);
}

/// Stores a block's results as they are.
template <class T, uint32_t kWidth>
struct StoreRows {
  __device__ void operator()(
      const AttentionParams& p, const Place<kAttentionOwn>& own,
      const TileSums<kAttentionOwn, kWidth>& sums,
      const float (&factors)[kAttentionOwn / kSide]) const {
    const uint32_t rows = p.queries - own.first;
    store_tile<T, kAttentionOwn, kWidth>(
        sums, factors, rows_of<T>(p.out, own.batch, own.head, own.first),
        p.out.row, rows, p.value_width, p.out.vectors);
  }
};

/// Calls run(batch, head, row, column, x) for neighbours x of a row that
/// exists; of columns those below p.value_width do.
template <uint32_t kWidth, class Run>
struct FinishRuns {
  Run run;

  __device__ void operator()(
      const AttentionParams& p, const Place<kAttentionOwn>& own,
      const TileSums<kAttentionOwn, kWidth>& sums,
      const float (&factors)[kAttentionOwn / kSide]) const {
    constexpr uint32_t kLength = kRun<kWidth>;
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kAttentionOwn / kSide; ++i) {
      const uint32_t row = own.first + tile_row(i);
      if (row >= p.queries) continue;
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kWidth / kSide; j += kLength) {
        float x[kLength];
        HOTARU_UNROLL
        for (uint32_t n = 0; n < kLength; ++n)
          x[n] = sums[i][j + n] * factors[i];
        run(own.batch, own.head, row, run_column<kWidth>(j), x);
      }
    }
  }
};

/// finish(p, own, sums, factors) gets a block's results, each row of which it
/// has to multiply by its factor.
template <class T, uint32_t kWidth, class Finish>
__device__ inline void attention(const AttentionParams& p,
                                 const Finish& finish) {
  constexpr uint32_t kOwn = kAttentionOwn, kMine = kOwn / kSide;
  constexpr uint32_t kKeys = kAttentionKeys;
  float* queries = dynamic_shared<float>();
  float* others = queries + kOwn * tile_pitch(kWidth);  // keys, then values
  float* weights = others + kKeys * tile_pitch(kWidth);
  // The longest rows of a causal head come first.
  const Place<kOwn> own(p.queries, p.heads, p.causal);
  const uint32_t group = own.head / p.group;
  const Scores<T> scores(p, own.batch, own.head);
  fill_rows<T, kOwn, kWidth>(queries, p.query, own.batch, own.head, own.first,
                             p.queries, p.key_width, p.scale);

  Running<kMine, kSide> running;
  TileSums<kOwn, kWidth> out = {};
  const uint32_t end =
      p.causal && own.first + kOwn < p.keys ? own.first + kOwn : p.keys;
  HOTARU_NO_UNROLL
  for (uint32_t key = 0; key < end; key += kKeys) {
    __syncthreads();
    fill_rows<T, kKeys, kWidth>(others, p.key, own.batch, group, key, p.keys,
                                p.key_width);
    __syncthreads();
    TileSums<kOwn, kKeys> s = {};
    add_product_of_rows<kOwn, kKeys, kWidth>(s, queries, others);
    __syncthreads();
    fill_rows<T, kKeys, kWidth>(others, p.value, own.batch, group, key, p.keys,
                                p.value_width);
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kMine; ++i) {
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kKeys / kSide; ++j)
        s[i][j] =
            scores.at(s[i][j], own.first + tile_row(i), key + tile_column(j));
      const float factor = running.take(i, s[i]);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kWidth / kSide; ++j) out[i][j] *= factor;
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kKeys / kSide; ++j)
        weights[tile_row(i) * tile_pitch(kKeys) + tile_column(j)] = s[i][j];
    }
    __syncthreads();
    add_product<kOwn, kWidth, kKeys>(out, weights, others);
  }

  float factors[kMine];
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kMine; ++i) {
    const float sum = share_row<kSide>(running.sum[i], Plus());
    factors[i] = sum == 0 ? 0.0f : 1 / sum;
    const uint32_t query = own.first + tile_row(i);
    if (tile_column(0) == 0 && query < p.queries)
      p.lse[line_of(p, own.batch, own.head) + query] =
          sum == 0 ? infinity() : running.most[i] + std::log(sum);
  }
  finish(p, own, out, factors);
}

}  // namespace hotaru::cuda
