// Work that the threads of a block do together.
#pragma once

#include "hotaru/backend/cuda/device/kernel.h"

namespace hotaru::cuda {

inline constexpr uint32_t kWarp = 32;
inline constexpr uint32_t kAllLanes = 0xffffffffu;

/// The value of another thread of the warp, word by word as f of a word gets
/// it. All threads take part.
template <class A, class F>
__device__ inline A shuffled(const A& value, const F& f) {
  constexpr uint32_t kWords = (sizeof(A) + 3) / 4;
  uint32_t words[kWords] = {};
  std::memcpy(words, &value, sizeof(A));
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kWords; ++i) words[i] = f(words[i]);
  A out;
  std::memcpy(&out, words, sizeof(A));
  return out;
}
template <class A>
__device__ inline A shuffle_down(const A& value, uint32_t by) {
  return shuffled(value, [=](uint32_t word) {
    return __shfl_down_sync(kAllLanes, word, by);
  });
}
template <class A>
__device__ inline A shuffle_up(const A& value, uint32_t by) {
  return shuffled(value, [=](uint32_t word) {
    return __shfl_up_sync(kAllLanes, word, by);
  });
}
template <class A>
__device__ inline A shuffle_xor(const A& value, uint32_t bits) {
  return shuffled(value, [=](uint32_t word) {
    return __shfl_xor_sync(kAllLanes, word, bits);
  });
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

/// Joins what the threads of a line have: `before`, of all before this one, and
/// `all`, of all of them. `memory`: kBlock / kWarp values.
template <class R, class Acc>
__device__ inline void join_lanes(const Acc& mine, uint32_t lane,
                                  uint32_t lanes, Acc* memory, Acc& before,
                                  Acc& all) {
  Acc upto = mine;
  const uint32_t width = lanes < kWarp ? lanes : kWarp;
  for (uint32_t by = 1; by < width; by *= 2) {
    const Acc other = shuffle_up(upto, by);
    if (lane % kWarp >= by) upto = R::combine(other, upto);
  }
  before = shuffle_up(upto, 1);
  if (lane % kWarp == 0) before = R::identity();
  // Short lines have their sum in the last lane, long ones in all warps.
  if (threadIdx.x % width == width - 1) memory[threadIdx.x / width] = upto;
  __syncthreads();
  const uint32_t warps = lanes / width;
  const uint32_t first = threadIdx.x / lanes * warps;
  all = R::identity();
  for (uint32_t w = 0; w < warps; ++w) {
    if (w == lane / width) before = R::combine(all, before);
    all = R::combine(all, memory[first + w]);
  }
  __syncthreads();
}

HOTARU_DEVICE inline uint32_t bits_set(uint32_t x) {
#ifdef __CUDA_ARCH__
  return uint32_t(__popc(int(x)));
#else
  return uint32_t(std::popcount(x));
#endif
}

/// Operations that Team::share() joins values by.
struct Plus {
  template <class A>
  __device__ A operator()(A a, A b) const {
    return a + b;
  }
};
struct Larger {
  template <class A>
  __device__ A operator()(A a, A b) const {
    return a > b ? a : b;
  }
};

/// Where a thread stands among those that share rows, and what they know
/// together. A block has kBlock / lanes rows, lanes a power of two; `across`:
/// neighbouring threads have neighbouring rows.
struct Team {
  uint32_t lanes;
  bool across;

  __device__ uint32_t rows() const { return kBlock / lanes; }
  __device__ uint32_t lane() const {
    return across ? threadIdx.x / rows() : threadIdx.x % lanes;
  }
  __device__ uint32_t row() const {
    return across ? threadIdx.x % rows() : threadIdx.x / lanes;
  }

  /// f of all threads of a row, the same bits in each of them; f must not care
  /// which argument is which. All threads of the block take part, after which
  /// `memory`, kBlock values, is free again.
  template <class A, class F>
  __device__ A share(A value, A* memory, const F& f) const {
    if (across) {
      const uint32_t apart = rows();
      memory[threadIdx.x] = value;
      __syncthreads();
      for (uint32_t half = lanes / 2; half > 0; half /= 2) {
        if (threadIdx.x < half * apart)
          memory[threadIdx.x] =
              f(memory[threadIdx.x], memory[threadIdx.x + half * apart]);
        __syncthreads();
      }
      value = memory[threadIdx.x % apart];
      __syncthreads();
      return value;
    }
    for (uint32_t by = (lanes < kWarp ? lanes : kWarp) / 2; by > 0; by /= 2)
      value = f(value, shuffle_xor(value, by));
    if (lanes > kWarp) {
      if (threadIdx.x % kWarp == 0) memory[threadIdx.x / kWarp] = value;
      __syncthreads();
      const uint32_t warps = lanes / kWarp;
      const uint32_t first = threadIdx.x / lanes * warps;
      value = memory[first];
      for (uint32_t w = 1; w < warps; ++w) value = f(value, memory[first + w]);
      __syncthreads();
    }
    return value;
  }
};

}  // namespace hotaru::cuda
