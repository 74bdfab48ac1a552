// Fused attention: softmax(scale Q K^T + mask) V and its gradients, tile by
// tile, so that scores lie in no memory (T. Dao et al., arXiv:2205.14135, and
// T. Dao, arXiv:2307.08691), with operands in float. A block owns rows of one
// side and goes through the other side in order: sums have one order and need
// no atomics. See params/attention.h for how they are launched.
#include "hotaru/backend/cuda/device/attention/attention.h"

namespace hotaru::cuda {
namespace {

constexpr uint32_t kOwn = kAttentionOwn;
/// Rows that a thread has of a tile of owned ones.
constexpr uint32_t kMine = kOwn / kSide;

template <class T, uint32_t kWidth>
__device__ void attention(const AttentionParams& p) {
  attention<T, kWidth>(p, StoreRows<T, kWidth>());
}

/// The sum of grad * out over each row.
template <class T>
__device__ void attention_delta(const AttentionParams& p) {
  const int64_t line =
      int64_t(blockIdx.x) * (kBlock / kWarp) + threadIdx.x / kWarp;
  const bool real = line < int64_t{p.batches} * p.heads * p.queries;
  float sum = 0;
  if (real) {
    const auto head = uint32_t(line / p.queries);
    const auto query = uint32_t(line - int64_t(head) * p.queries);
    const uint32_t batch = head / p.heads;
    const auto* g = rows_of<T>(p.grad, batch, head - batch * p.heads, query);
    const auto* y = rows_of<T>(p.out, batch, head - batch * p.heads, query);
    for (uint32_t i = threadIdx.x % kWarp; i < p.value_width; i += kWarp)
      sum += widen<T>(g[i]) * widen<T>(y[i]);
  }
  for (uint32_t by = kWarp / 2; by > 0; by /= 2) sum += shuffle_xor(sum, by);
  if (real && threadIdx.x % kWarp == 0) p.delta[line] = sum;
}

template <class T, uint32_t kWidth>
__device__ void query_grad(const AttentionParams& p) {
  constexpr uint32_t kKeys = kAttentionGradRows;
  float* queries = dynamic_shared<float>();
  float* grads = queries + kOwn * tile_pitch(kWidth);
  float* others = grads + kOwn * tile_pitch(kWidth);  // values, then keys
  float* slopes = others + kKeys * tile_pitch(kWidth);
  const Place<kOwn> own(p.queries, p.heads, p.causal);
  const uint32_t group = own.head / p.group;
  const Scores<T> scores(p, own.batch, own.head);
  fill_rows<T, kOwn, kWidth>(queries, p.query, own.batch, own.head, own.first,
                             p.queries, p.key_width, p.scale);
  fill_rows<T, kOwn, kWidth>(grads, p.grad, own.batch, own.head, own.first,
                             p.queries, p.value_width);
  float lse[kMine], delta[kMine], factors[kMine];
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kMine; ++i) {
    const uint32_t query = own.first + tile_row(i);
    const int64_t line = line_of(p, own.batch, own.head) + query;
    lse[i] = query < p.queries ? p.lse[line] * kLog2E : infinity();
    delta[i] = query < p.queries ? p.delta[line] : 0.0f;
    factors[i] = p.scale;
  }

  TileSums<kOwn, kWidth> sums = {};
  const uint32_t end =
      p.causal && own.first + kOwn < p.keys ? own.first + kOwn : p.keys;
  HOTARU_NO_UNROLL
  for (uint32_t key = 0; key < end; key += kKeys) {
    __syncthreads();
    fill_rows<T, kKeys, kWidth>(others, p.value, own.batch, group, key, p.keys,
                                p.value_width);
    __syncthreads();
    TileSums<kOwn, kKeys> g = {}, s = {};
    add_product_of_rows<kOwn, kKeys, kWidth>(g, grads, others);
    __syncthreads();
    fill_rows<T, kKeys, kWidth>(others, p.key, own.batch, group, key, p.keys,
                                p.key_width);
    __syncthreads();
    add_product_of_rows<kOwn, kKeys, kWidth>(s, queries, others);
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kMine; ++i) HOTARU_UNROLL
    for (uint32_t j = 0; j < kKeys / kSide; ++j) {
      const float score =
          scores.at(s[i][j], own.first + tile_row(i), key + tile_column(j));
      slopes[tile_row(i) * tile_pitch(kKeys) + tile_column(j)] =
          score_grad(exp_above(score, lse[i]), g[i][j], delta[i]);
    }
    __syncthreads();
    add_product<kOwn, kWidth, kKeys>(sums, slopes, others);
  }
  store_tile<T, kOwn, kWidth>(
      sums, factors, rows_of<T>(p.query_grad, own.batch, own.head, own.first),
      p.query_grad.row, p.queries - own.first, p.key_width,
      p.query_grad.vectors);
}

template <class T, uint32_t kWidth>
__device__ void keys_grad(const AttentionParams& p) {
  constexpr uint32_t kQueries = kAttentionGradRows;
  constexpr uint32_t kEach = kQueries / kSide;
  float* keys = dynamic_shared<float>();
  float* values = keys + kOwn * tile_pitch(kWidth);
  float* others = values + kOwn * tile_pitch(kWidth);  // queries or gradients
  float* weights = others + kQueries * tile_pitch(kWidth);  // or their slopes
  const Place<kOwn> own(p.keys, p.heads / p.group, false);
  fill_rows<T, kOwn, kWidth>(keys, p.key, own.batch, own.head, own.first,
                             p.keys, p.key_width);
  fill_rows<T, kOwn, kWidth>(values, p.value, own.batch, own.head, own.first,
                             p.keys, p.value_width);

  TileSums<kOwn, kWidth> key_sums = {}, value_sums = {};
  HOTARU_NO_UNROLL
  for (uint32_t head = own.head * p.group; head < (own.head + 1) * p.group;
       ++head) {
    const Scores<T> scores(p, own.batch, head);
    const int64_t line = line_of(p, own.batch, head);
    HOTARU_NO_UNROLL
    for (uint32_t query = p.causal ? own.first : 0; query < p.queries;
         query += kQueries) {
      __syncthreads();
      fill_rows<T, kQueries, kWidth>(others, p.query, own.batch, head, query,
                                     p.queries, p.key_width, p.scale);
      __syncthreads();
      TileSums<kOwn, kQueries> s = {}, g = {};
      add_product_of_rows<kOwn, kQueries, kWidth>(s, keys, others);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kEach; ++j) {
        const uint32_t q = query + tile_column(j);
        const float lse = q < p.queries ? p.lse[line + q] * kLog2E : infinity();
        HOTARU_UNROLL
        for (uint32_t i = 0; i < kMine; ++i) {
          s[i][j] =
              exp_above(scores.at(s[i][j], q, own.first + tile_row(i)), lse);
          weights[tile_row(i) * tile_pitch(kQueries) + tile_column(j)] =
              s[i][j];
        }
      }
      __syncthreads();
      fill_rows<T, kQueries, kWidth>(others, p.grad, own.batch, head, query,
                                     p.queries, p.value_width);
      __syncthreads();
      add_product<kOwn, kWidth, kQueries>(value_sums, weights, others);
      add_product_of_rows<kOwn, kQueries, kWidth>(g, values, others);
      __syncthreads();
      fill_rows<T, kQueries, kWidth>(others, p.query, own.batch, head, query,
                                     p.queries, p.key_width, p.scale);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kEach; ++j) {
        const uint32_t q = query + tile_column(j);
        const float delta = q < p.queries ? p.delta[line + q] : 0.0f;
        HOTARU_UNROLL
        for (uint32_t i = 0; i < kMine; ++i)
          weights[tile_row(i) * tile_pitch(kQueries) + tile_column(j)] =
              score_grad(s[i][j], g[i][j], delta);
      }
      __syncthreads();
      add_product<kOwn, kWidth, kQueries>(key_sums, weights, others);
    }
  }

  float ones[kMine];
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kMine; ++i) ones[i] = 1;
  const uint32_t rows = p.keys - own.first;
  const auto put = [&](const TileSums<kOwn, kWidth>& sums,
                       const AttentionRows& to, uint32_t width) {
    if (!to.data) return;
    store_tile<T, kOwn, kWidth>(sums, ones,
                                rows_of<T>(to, own.batch, own.head, own.first),
                                to.row, rows, width, to.vectors);
  };
  put(key_sums, p.key_grad, p.key_width);
  put(value_sums, p.value_grad, p.value_width);
}

}  // namespace

/// Blocks on a processor: shared memory leaves room for two at least.
#define HOTARU_ATTENTION(T, suffix, width) \
  HOTARU_CUDA_CROWDED_KERNEL(Attention##width##_##suffix, 2, AttentionParams, \
                             attention<T, width>) \
  HOTARU_CUDA_CROWDED_KERNEL(AttentionQuery##width##_##suffix, 2, \
                             AttentionParams, query_grad<T, width>) \
  HOTARU_CUDA_CROWDED_KERNEL(AttentionKeys##width##_##suffix, 2, \
                             AttentionParams, keys_grad<T, width>)
#define HOTARU_ATTENTIONS(T, suffix) \
  HOTARU_ATTENTION(T, suffix, 32) \
  HOTARU_ATTENTION(T, suffix, 64) \
  HOTARU_ATTENTION(T, suffix, 128) \
  HOTARU_CUDA_BLOCK_KERNEL(AttentionDelta_##suffix, AttentionParams, \
                           attention_delta<T>)

HOTARU_ATTENTIONS(float, f32)
HOTARU_ATTENTIONS(Half, f16)
HOTARU_ATTENTIONS(BFloat16, bf16)

}  // namespace hotaru::cuda
