// Fused attention of 16-bit floats by tensor cores, summed in float (T. Dao,
// arXiv:2307.08691). A block owns kOwn rows of one side, 16 a warp, and goes
// through the other side in order, two tiles in shared memory in turn: one is
// multiplied while the other one comes. Scores stay in registers: what is a
// result of one product is the left operand of the next, rounded to 16 bits.
// See params/attention.h for how the kernels are launched.
#include "hotaru/backend/cuda/device/attention/scores.h"
#include "hotaru/backend/cuda/device/tensor_tile.h"

namespace hotaru::cuda {
namespace {

constexpr uint32_t kOwn = kAttentionTensorOwn;
constexpr uint32_t kWarpRows = 16, kSharers = 4;
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
__device__ void put_numbers(Rows<kColumns>& to, const Sums<kColumns>& sums,
                            const F& f) {
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
__device__ void put_scores(Rows<kColumns>& to, const Sums<kColumns>& products,
                           float scale, bool plain, const F& score) {
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
__device__ void bring(char* tile, const AttentionRows& rows, uint32_t batch,
                      uint32_t head, uint32_t first, uint32_t end,
                      uint32_t width) {
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
__device__ void bring_keys(char* to, const AttentionParams& p, uint32_t batch,
                           uint32_t group, uint32_t first) {
  bring<T, kKeys, kWidth>(to, p.key, batch, group, first, p.keys, p.key_width);
  bring<T, kKeys, kWidth>(to + kKeys * kWidth * 2, p.value, batch, group, first,
                          p.keys, p.value_width);
}
/// Of queries and of their results' gradients.
template <class T, uint32_t kQueries, uint32_t kWidth>
__device__ void bring_queries(char* to, const AttentionParams& p,
                              uint32_t batch, uint32_t head, uint32_t first) {
  bring<T, kQueries, kWidth>(to, p.query, batch, head, first, p.queries,
                             p.key_width);
  bring<T, kQueries, kWidth>(to + kQueries * kWidth * 2, p.grad, batch, head,
                             first, p.queries, p.value_width);
}

/// sums += the warp's rows of a times the rows of b, both kDepth long;
/// operands of kTogether steps are in registers at once.
template <class T, uint32_t kColumns, uint32_t kDepth, uint32_t kTogether>
__device__ void add_product_of_rows(Sums<kColumns>& sums, const char* a,
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
__device__ uint32_t pair_of(float x, float y) {
  Vector<T, 2> v;
  narrow_pair<T>(v, 0, x, y);
  return v.at[0] | uint32_t(v.at[1]) << 16;
}

/// sums += w b for a b of kDepth rows, kColumns long.
template <class T, uint32_t kColumns, uint32_t kDepth>
__device__ void add_weighted(Sums<kColumns>& sums, const Rows<kDepth>& w,
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
__device__ void put(const Sums<kWidth>& sums, const float (&factors)[2],
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

/// What the warp's last row takes no part in, no row of it does.
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

template <class T, uint32_t kWidth>
__device__ void attention(const AttentionParams& p) {
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
  put<T, kWidth>(out, factors, p.out, own, p.queries, p.value_width);
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

}  // namespace hotaru::cuda
