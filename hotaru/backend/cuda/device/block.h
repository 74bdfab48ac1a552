// What the threads of a block do together.
#pragma once

#include "hotaru/backend/cuda/device/kernel.h"

namespace hotaru::cuda {

inline constexpr uint32_t kWarp = 32;
inline constexpr uint32_t kAllLanes = 0xffffffffu;

/// A value of a thread of the same warp, word by word. All threads take part.
template <class A>
__device__ inline A shuffle_down(const A& value, uint32_t by) {
  constexpr uint32_t kWords = (sizeof(A) + 3) / 4;
  uint32_t words[kWords] = {};
  std::memcpy(words, &value, sizeof(A));
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kWords; ++i)
    words[i] = __shfl_down_sync(kAllLanes, words[i], by);
  A out;
  std::memcpy(&out, words, sizeof(A));
  return out;
}
template <class A>
__device__ inline A shuffle_up(const A& value, uint32_t by) {
  constexpr uint32_t kWords = (sizeof(A) + 3) / 4;
  uint32_t words[kWords] = {};
  std::memcpy(words, &value, sizeof(A));
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kWords; ++i)
    words[i] = __shfl_up_sync(kAllLanes, words[i], by);
  A out;
  std::memcpy(&out, words, sizeof(A));
  return out;
}

/// Combines what the `lanes` threads of a group have, lanes a power of two and
/// the groups' threads side by side; right in the first thread of each. All
/// threads of the block take part. `memory`: kBlock / kWarp values, not in use.
template <class R, class A>
__device__ inline A combine_group(A acc, uint32_t lanes, A* memory) {
  for (uint32_t by = (lanes < kWarp ? lanes : kWarp) / 2; by > 0; by /= 2)
    acc = R::combine(acc, shuffle_down(acc, by));
  if (lanes > kWarp) {
    if (threadIdx.x % kWarp == 0) memory[threadIdx.x / kWarp] = acc;
    __syncthreads();
    if (threadIdx.x % lanes == 0)
      for (uint32_t w = 1; w < lanes / kWarp; ++w)
        acc = R::combine(acc, memory[threadIdx.x / kWarp + w]);
  }
  return acc;
}

/// The same for groups whose threads are kBlock / lanes apart. `memory`: kBlock
/// values.
template <class R, class A>
__device__ inline A combine_column(A acc, uint32_t lanes, A* memory) {
  const uint32_t apart = kBlock / lanes;
  for (uint32_t half = lanes / 2; half > 0; half /= 2) {
    memory[threadIdx.x] = acc;
    __syncthreads();
    if (threadIdx.x < half * apart)
      acc = R::combine(acc, memory[threadIdx.x + half * apart]);
    __syncthreads();
  }
  return acc;
}

}  // namespace hotaru::cuda
