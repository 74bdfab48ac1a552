// Names that a kernel's source finds in nvcc's place when it is compiled as
// plain C++ for the GPU in software: CUDA's words, its thread indices and the
// functions by which threads wait for each other. The rest is in intrinsics.h.
//
// Blocks run one after another and a `__shared__` variable is a static one: it
// keeps what the block before left there. Blocks must not wait for each other.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

#include "hotaru/backend/soft_gpu/intrinsics.h"
#include "hotaru/backend/soft_gpu/vector_types.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__
#define __shared__ static
#define __align__(n) alignas(n)

extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
inline constexpr int warpSize = 32;

namespace hotaru::soft_gpu {

/// Vote that a barrier tells its threads, on their predicates.
struct BarrierVote {
  int count = 0;
  int threads = 0;
};

/// Waits until every thread of the block that has not ended is here.
BarrierVote sync_block(bool predicate);
/// Waits for the living lanes of the mask, and tells which predicates held.
unsigned sync_warp(unsigned mask, bool predicate);
/// The same; `to` receives what lane `source` gave, and 0xFF in every byte
/// where that lane takes no part.
void shuffle(unsigned mask, const void* from, void* to, size_t bytes,
             int source);
/// The place of the calling thread in its warp.
int lane();
void* dynamic_shared_bytes();
/// Waits for the grids before this one, as griddepcontrol.wait does: they have
/// ended, as grids run one after another, so the call is only noted.
void wait_for_grids();

/// The memory that the launch asked for, of the calling thread's block.
template <class T>
T* dynamic_shared() {
  return static_cast<T*>(dynamic_shared_bytes());
}

template <class T>
T shuffled(unsigned mask, const T& value, int source) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  T result;
  shuffle(mask, &value, &result, sizeof(T), source);
  return result;
}

}  // namespace hotaru::soft_gpu

inline void __syncthreads() {
  hotaru::soft_gpu::sync_block(false);
}
inline int __syncthreads_count(int predicate) {
  return hotaru::soft_gpu::sync_block(predicate != 0).count;
}
inline int __syncthreads_or(int predicate) {
  return hotaru::soft_gpu::sync_block(predicate != 0).count != 0;
}
inline int __syncthreads_and(int predicate) {
  const auto vote = hotaru::soft_gpu::sync_block(predicate != 0);
  return vote.count == vote.threads;
}
inline void __syncwarp(unsigned mask = ~0u) {
  hotaru::soft_gpu::sync_warp(mask, false);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return hotaru::soft_gpu::sync_warp(mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) {
  return hotaru::soft_gpu::sync_warp(mask, predicate != 0) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return hotaru::soft_gpu::sync_warp(mask, predicate == 0) == 0;
}
/// No lanes are known to run together, so the caller is alone.
inline unsigned __activemask() {
  return 1u << hotaru::soft_gpu::lane();
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  const int first = hotaru::soft_gpu::lane() & ~(width - 1);
  return hotaru::soft_gpu::shuffled(mask, value,
                                    first + (source & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const int lane = hotaru::soft_gpu::lane();
  const int source = lane - int(delta);
  const bool inside = source >= (lane & ~(width - 1));
  return hotaru::soft_gpu::shuffled(mask, value, inside ? source : lane);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta,
                   int width = warpSize) {
  const int lane = hotaru::soft_gpu::lane();
  const int source = lane + int(delta);
  const bool inside = source <= (lane | (width - 1));
  return hotaru::soft_gpu::shuffled(mask, value, inside ? source : lane);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = warpSize) {
  const int lane = hotaru::soft_gpu::lane();
  const int source = lane ^ bits;
  const bool inside = source <= (lane | (width - 1));
  return hotaru::soft_gpu::shuffled(mask, value, inside ? source : lane);
}
