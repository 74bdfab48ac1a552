// Fused attention of 16-bit floats by tensor cores, summed in float (T. Dao,
// arXiv:2307.08691). A block owns kOwn rows of one side, 16 a warp, and goes
// through the other side in order, two tiles in shared memory in turn: one is
// multiplied while the other one comes. Scores stay in registers: what is a
// result of one product is the left operand of the next, rounded to 16 bits.
// See params/attention.h for how the kernels are launched.
#include "hotaru/backend/cuda/device/attention/tensor_attention.h"

namespace hotaru::cuda::tensor_attention {
namespace {

template <class T, uint32_t kWidth>
__device__ void attention(const AttentionParams& p) {
  attention<T, kWidth>(p, StoreRows<T, kWidth>());
}

template <class T, uint32_t kWidth>
__device__ void query_grad(const AttentionParams& p) {
  constexpr uint32_t kKeys = kAttentionTensorGradRows;
  constexpr uint32_t kTile = kKeys * kWidth * 2;
  char* queries = dynamic_shared<char>();
  char* grads = queries + kOwn * kWidth * 2;
  char* others = grads + kOwn * kWidth * 2;  // keys and values, twice
  const Place<kOwn> own(p.queries, p.heads, p.causal);
  const uint32_t group = own.head / p.group, end = last_key(p, own);
  const Scores<T> scores(p, own.batch, own.head);
  const auto fetch = [&](char* to, uint32_t key) {
    if (key < end) bring_keys<T, kKeys, kWidth>(to, p, own.batch, group, key);
    end_copies();
  };
  bring_queries<T, kOwn, kWidth>(queries, p, own.batch, own.head, own.first);
  fetch(others, 0);
  float lse[2], delta[2];
  HOTARU_UNROLL
  for (uint32_t r = 0; r < 2; ++r) {
    const uint32_t query = own.first + row(r);
    const int64_t line = line_of(p, own.batch, own.head) + query;
    lse[r] = query < p.queries ? p.lse[line] * kLog2E : infinity();
    delta[r] = query < p.queries ? p.delta[line] : 0.0f;
  }

  Sums<kWidth> sums = {};
  uint32_t turn = 0;
  HOTARU_NO_UNROLL
  for (uint32_t key = 0; key < end; key += kKeys) {
    await_copies<0>();
    __syncthreads();
    const char* here = others + turn * 2 * kTile;
    turn ^= 1;
    fetch(others + turn * 2 * kTile, key + kKeys);
    if (!is_seen(p, own, key)) continue;
    Rows<kKeys> g;
    {
      Sums<kKeys> products = {};
      add_product_of_rows<T, kKeys, kWidth, 1>(products, queries, here);
      const bool plain =
          scores.are_plain(own.first + warp_row(), kWarpRows, key, kKeys);
      put_scores<kKeys>(g, products, p.scale, plain,
                        [&](float x, uint32_t r, uint32_t c) {
                          return scores.at(x, own.first + row(r), key + c);
                        });
      put_numbers<kKeys>(g, products,
                         [&](uint32_t r, float, uint32_t, float score) {
                           return exp_above(score, lse[r]);
                         });
    }
    Sums<kKeys> slopes = {};
    add_product_of_rows<T, kKeys, kWidth, 1>(slopes, grads, here + kTile);
    put_numbers<kKeys>(g, slopes,
                       [&](uint32_t r, float x, uint32_t, float weight) {
                         return score_grad(weight, x, delta[r]);
                       });
    add_weighted<T, kWidth, kKeys>(sums, g, here);
  }
  const float factors[2] = {p.scale, p.scale};
  put<T, kWidth>(sums, factors, p.query_grad, own, p.queries, p.key_width);
}

/// The tiles of queries that a block of keys goes through, one after another:
/// those of each head that shares the keys.
struct QueryTile {
  uint32_t head, query;
};

template <class T, uint32_t kWidth>
__device__ void keys_grad(const AttentionParams& p) {
  constexpr uint32_t kRows = kAttentionTensorGradRows;
  constexpr uint32_t kTile = kRows * kWidth * 2;
  char* keys = dynamic_shared<char>();
  char* values = keys + kOwn * kWidth * 2;
  char* others = values + kOwn * kWidth * 2;  // queries and gradients, twice
  const Place<kOwn> own(p.keys, p.heads / p.group, false);
  const uint32_t first = p.causal ? own.first : 0;
  const uint32_t last_head = first < p.queries ? (own.head + 1) * p.group : 0;
  const auto next = [&](QueryTile at) -> QueryTile {
    if (at.query + kRows < p.queries) return {at.head, at.query + kRows};
    return {at.head + 1, first};
  };
  const auto fetch = [&](char* to, const QueryTile& at) {
    if (at.head < last_head)
      bring_queries<T, kRows, kWidth>(to, p, own.batch, at.head, at.query);
    end_copies();
  };
  bring_keys<T, kOwn, kWidth>(keys, p, own.batch, own.head, own.first);
  QueryTile at{own.head * p.group, first};
  fetch(others, at);

  Sums<kWidth> key_sums = {}, value_sums = {};
  uint32_t turn = 0;
  HOTARU_NO_UNROLL
  for (; at.head < last_head; at = next(at)) {
    await_copies<0>();
    __syncthreads();
    const char* here = others + turn * 2 * kTile;
    turn ^= 1;
    fetch(others + turn * 2 * kTile, next(at));
    const Scores<T> scores(p, own.batch, at.head);
    const int64_t line = line_of(p, own.batch, at.head);
    // Rows are keys here, columns queries.
    Rows<kRows> weights;
    {
      Sums<kRows> products = {};
      add_product_of_rows<T, kRows, kWidth, 1>(products, keys, here);
      const bool plain =
          scores.are_plain(at.query, kRows, own.first + warp_row(), kWarpRows);
      put_scores<kRows>(weights, products, p.scale, plain,
                        [&](float x, uint32_t r, uint32_t c) {
                          return scores.at(x, at.query + c, own.first + row(r));
                        });
      put_numbers<kRows>(
          weights, products, [&](uint32_t, float, uint32_t c, float score) {
            const uint32_t query = at.query + c;
            const float lse =
                query < p.queries ? p.lse[line + query] * kLog2E : infinity();
            return exp_above(score, lse);
          });
    }
    add_weighted<T, kWidth, kRows>(value_sums, weights, here + kTile);
    Sums<kRows> slopes = {};
    add_product_of_rows<T, kRows, kWidth, 1>(slopes, values, here + kTile);
    put_numbers<kRows>(
        weights, slopes, [&](uint32_t, float x, uint32_t c, float weight) {
          const uint32_t query = at.query + c;
          const float delta = query < p.queries ? p.delta[line + query] : 0.0f;
          return score_grad(weight, x, delta);
        });
    add_weighted<T, kWidth, kRows>(key_sums, weights, here);
  }
  const float scales[2] = {p.scale, p.scale}, ones[2] = {1, 1};
  if (p.key_grad.data)
    put<T, kWidth>(key_sums, scales, p.key_grad, own, p.keys, p.key_width);
  if (p.value_grad.data)
    put<T, kWidth>(value_sums, ones, p.value_grad, own, p.keys, p.value_width);
}

}  // namespace

#define HOTARU_ATTENTION(T, suffix, width, query_blocks, keys_blocks) \
  HOTARU_CUDA_CROWDED_KERNEL(AttentionTensor##width##_##suffix, 2, \
                             AttentionParams, attention<T, width>) \
  HOTARU_CUDA_CROWDED_KERNEL(AttentionTensorQuery##width##_##suffix, \
                             query_blocks, AttentionParams, \
                             query_grad<T, width>) \
  HOTARU_CUDA_CROWDED_KERNEL(AttentionTensorKeys##width##_##suffix, \
                             keys_blocks, AttentionParams, \
                             keys_grad<T, width>)
/// Gradients' sums of long rows take more registers than half of a processor's.
#define HOTARU_ATTENTIONS(T, suffix) \
  HOTARU_ATTENTION(T, suffix, 32, 2, 2) \
  HOTARU_ATTENTION(T, suffix, 64, 2, 1) \
  HOTARU_ATTENTION(T, suffix, 128, 1, 1)

HOTARU_ATTENTIONS(Half, f16)
HOTARU_ATTENTIONS(BFloat16, bf16)

}  // namespace hotaru::cuda::tensor_attention
