// Fused attention's forward by tensor cores, see tensor_attention.cu. What
// becomes of a result is the caller's: kernels that are compiled at run time go
// on with it (fused/attention_text.h).
#pragma once

#include "hotaru/backend/cuda/device/attention/tensor_rows.h"

namespace hotaru::cuda::tensor_attention {

/// Stores a block's results as they are.
template <class T, uint32_t kWidth>
struct StoreRows {
  __device__ void operator()(const AttentionParams& p, const Place<kOwn>& own,
                             const Sums<kWidth>& sums,
                             const float (&factors)[2]) const {
    put<T, kWidth>(sums, factors, p.out, own, p.queries, p.value_width);
  }
};

/// Calls run(batch, head, row, column, x) for neighbours x of a row that
/// exists; of columns those below p.value_width do.
template <uint32_t kWidth, class Run>
struct FinishRuns {
  Run run;

  __device__ void operator()(const AttentionParams& p, const Place<kOwn>& own,
                             const Sums<kWidth>& sums,
                             const float (&factors)[2]) const {
    HOTARU_UNROLL
    for (uint32_t r = 0; r < 2; ++r) {
      const uint32_t at = own.first + row(r);
      if (at >= p.queries) continue;
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kWidth / 8; ++j) {
        const float x[2] = {sums[j][2 * r] * factors[r],
                            sums[j][2 * r + 1] * factors[r]};
        run(own.batch, own.head, at, column(j, 0), x);
      }
    }
  }
};

/// finish(p, own, sums, factors) gets a block's results, each row of which it
/// has to multiply by its factor.
template <class T, uint32_t kWidth, class Finish>
__device__ inline void attention(const AttentionParams& p,
                                 const Finish& finish) {
  constexpr uint32_t kKeys = attention_tensor_keys(kWidth);
  constexpr uint32_t kTile = kKeys * kWidth * 2;
  char* queries = dynamic_shared<char>();
  char* others = queries + kOwn * kWidth * 2;  // keys and values, twice
  // The longest rows of a causal head come first.
  const Place<kOwn> own(p.queries, p.heads, p.causal);
  const uint32_t group = own.head / p.group, end = last_key(p, own);
  const Scores<T> scores(p, own.batch, own.head);
  const auto fetch = [&](char* to, uint32_t key) {
    if (key < end) bring_keys<T, kKeys, kWidth>(to, p, own.batch, group, key);
    end_copies();
  };
  bring<T, kOwn, kWidth>(queries, p.query, own.batch, own.head, own.first,
                         p.queries, p.key_width);
  fetch(others, 0);

  Running<2, kSharers> running;
  Sums<kWidth> out = {};
  uint32_t turn = 0;
  HOTARU_NO_UNROLL
  for (uint32_t key = 0; key < end; key += kKeys) {
    await_copies<0>();
    __syncthreads();  // the tiles are there, and nobody reads the others
    const char* here = others + turn * 2 * kTile;
    turn ^= 1;
    fetch(others + turn * 2 * kTile, key + kKeys);
    if (!is_seen(p, own, key)) continue;
    Sums<kKeys> products = {};
    add_product_of_rows<T, kKeys, kWidth, 2>(products, queries, here);
    Rows<kKeys> weights;
    const bool plain =
        scores.are_plain(own.first + warp_row(), kWarpRows, key, kKeys);
    put_scores<kKeys>(weights, products, p.scale, plain,
                      [&](float x, uint32_t r, uint32_t c) {
                        return scores.at(x, own.first + row(r), key + c);
                      });
    HOTARU_UNROLL
    for (uint32_t r = 0; r < 2; ++r) {
      const float factor = running.take(r, weights[r]);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kWidth / 8; ++j)
        out[j][2 * r] *= factor, out[j][2 * r + 1] *= factor;
    }
    add_weighted<T, kWidth, kKeys>(out, weights, here + kTile);
  }

  float factors[2];
  HOTARU_UNROLL
  for (uint32_t r = 0; r < 2; ++r) {
    const float sum = share_row<kSharers>(running.sum[r], Plus());
    factors[r] = sum == 0 ? 0.0f : 1 / sum;
    const uint32_t query = own.first + row(r);
    if (threadIdx.x % kSharers == 0 && query < p.queries)
      p.lse[line_of(p, own.batch, own.head) + query] =
          sum == 0 ? infinity() : running.most[r] + std::log(sum);
  }
  finish(p, own, out, factors);
}

}  // namespace hotaru::cuda::tensor_attention
