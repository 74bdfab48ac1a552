// Softmax of a line whose elements a team of threads holds. The greatest
// element and the sum of exponentials come from one pass (Milakov and
// Gimelshein, "Online normalizer calculation for softmax", 2018).
#pragma once

#include <cmath>
#include <limits>

#include "hotaru/backend/cuda/device/block.h"

namespace hotaru::cuda {

/// Greatest element and sum of exponentials less it. Starts from the lowest
/// finite number, so that infinities come out as NaN, or not at all.
template <class A>
struct Online {
  A greatest = std::numeric_limits<A>::lowest();
  A sum = 0;

  template <uint32_t kCount>
  __device__ void take(const A* x) {
    A now = greatest;
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) now = Larger()(x[j], now);
    sum *= std::exp(greatest - now);
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) sum += std::exp(x[j] - now);
    greatest = now;
  }
  __device__ void share(const Team& team, A* memory) {
    const A all = team.share(greatest, memory, Larger());
    sum = team.share(sum * std::exp(greatest - all), memory, Plus());
    greatest = all;
  }
};

/// Result that elements become, once the line is known.
template <bool kLog, class A>
struct SoftmaxResult {
  A shift, scale;

  __device__ explicit SoftmaxResult(const Online<A>& online)
      : shift(kLog ? online.greatest + std::log(online.sum) : online.greatest),
        scale(A(1) / online.sum) {}
  template <uint32_t kCount>
  __device__ void put(A* x) const {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kCount; ++j)
      x[j] = kLog ? x[j] - shift : std::exp(x[j] - shift) * scale;
  }
};

/// Softmax of a line that is in the team's registers; what is past its end is
/// -infinity.
template <bool kLog, uint32_t kCount, class A>
__device__ void held_softmax(const Team& team, A* x, A* memory) {
  Online<A> online;
  online.template take<kCount>(x);
  online.share(team, memory);
  SoftmaxResult<kLog, A>(online).template put<kCount>(x);
}

}  // namespace hotaru::cuda
