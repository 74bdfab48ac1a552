// Common parts of the kernels of fused attention: where rows lie, which scores
// take part, the softmax of a row that is seen piece by piece, and its gradient
// (the running maximum and sum are those of M. Milakov and N. Gimelshein,
// arXiv:1805.02867).
#pragma once

#include <cmath>

#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/params/attention.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {

__device__ inline float infinity() {
  return __int_as_float(0x7f800000);
}

constexpr float kLog2E = 1.44269504f;
/// exp(x - base), of a base times kLog2E.
__device__ inline float exp_above(float x, float base2) {
  return fast_exp2(x * kLog2E - base2);
}

/// Which kOwn rows of which head a block owns.
template <uint32_t kOwn>
struct Place {
  uint32_t batch, head, first;
  __device__ Place(uint32_t rows, uint32_t heads, bool last_first) {
    const uint32_t tiles = (rows + kOwn - 1) / kOwn;
    const uint32_t line = blockIdx.x / tiles;
    const uint32_t tile = blockIdx.x - line * tiles;
    batch = line / heads;
    head = line - batch * heads;
    first = (last_first ? tiles - 1 - tile : tile) * kOwn;
  }
};

template <class T>
__device__ inline Stored<T>* rows_of(const AttentionRows& r, uint32_t batch,
                                     uint32_t head, uint32_t row) {
  return static_cast<Stored<T>*>(r.data) + int64_t(batch) * r.batch +
         int64_t(head) * r.head + int64_t(row) * r.row;
}

/// Where what is kept of each query of a head begins: lse and delta.
__device__ inline int64_t line_of(const AttentionParams& p, uint32_t batch,
                                  uint32_t head) {
  return (int64_t(batch) * p.heads + head) * p.queries;
}

/// Scores of one head's queries.
template <class T>
struct Scores {
  const AttentionParams& p;
  int64_t mask;  // where the head's begins

  __device__ Scores(const AttentionParams& params, uint32_t batch,
                    uint32_t head)
      : p(params),
        mask(int64_t(batch) * params.mask_batch +
             int64_t(head) * params.mask_head) {}

  /// True if all of some queries take part with all of some keys as they are.
  __device__ bool are_plain(uint32_t query, uint32_t queries, uint32_t key,
                            uint32_t keys) const {
    return p.mask_kind == AttentionMask::kNone &&
           query + queries <= p.queries && key + keys <= p.keys &&
           (!p.causal || key + keys <= query + 1);
  }
  /// -infinity for what takes no part.
  __device__ float at(float product, uint32_t query, uint32_t key) const {
    if (query >= p.queries || key >= p.keys || (p.causal && key > query))
      return -infinity();
    const int64_t i =
        mask + int64_t(query) * p.mask_row + int64_t(key) * p.mask_key;
    switch (p.mask_kind) {
      case AttentionMask::kBool:
        return static_cast<const uint8_t*>(p.mask)[i] ? product : -infinity();
      case AttentionMask::kElements:
        return product + load<T>(static_cast<const Stored<T>*>(p.mask) + i);
      case AttentionMask::kFloats:
        return product + static_cast<const float*>(p.mask)[i];
      default:
        return product;
    }
  }
};

/// f of the kSharers neighbouring threads that share a row of scores, the same
/// bits in each.
template <uint32_t kSharers, class F>
__device__ float share_row(float x, const F& f) {
  HOTARU_UNROLL
  for (uint32_t by = kSharers / 2; by > 0; by /= 2)
    x = f(x, shuffle_xor(x, by));
  return x;
}

/// State of a thread's kMine rows after some keys.
template <uint32_t kMine, uint32_t kSharers>
struct Running {
  float most[kMine], sum[kMine];  // the sum: of this thread's columns

  __device__ Running() {
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kMine; ++i) {
      most[i] = -infinity();
      sum[i] = 0;
    }
  }

  /// Turns row i of scores into weights; gives what earlier ones lack.
  template <uint32_t kColumns>
  __device__ float take(uint32_t i, float (&scores)[kColumns]) {
    float now = most[i];
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kColumns; ++j) now = Larger()(scores[j], now);
    now = share_row<kSharers>(now, Larger());
    // Without any key so far: exp(-infinity - 0) rather than of their
    // difference, which is none.
    const float base = now == -infinity() ? 0.0f : now * kLog2E;
    const float factor = exp_above(most[i], base);
    most[i] = now;
    sum[i] *= factor;
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kColumns; ++j) {
      scores[j] = exp_above(scores[j], base);
      sum[i] += scores[j];
    }
    return factor;
  }
};

/// The gradient of a score: that of a softmax. What took no part gets none.
__device__ inline float score_grad(float weight, float grad, float delta) {
  return weight == 0 ? 0.0f : weight * (grad - delta);
}

}  // namespace hotaru::cuda
