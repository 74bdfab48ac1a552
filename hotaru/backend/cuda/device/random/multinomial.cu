// Positions drawn by weights, with replacement. See params/random/random.h for
// how they are launched.
#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/random/draws.h"
#include "hotaru/backend/cuda/params/random/random.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// Sums of weights that were divided by their sum and rounded to T, a block a
/// row.
template <class T>
__device__ void multinomial_sums(const MultinomialParams& p) {
  using A = OpMath<T>;
  __shared__ A memory[kBlock];
  const auto* weights =
      static_cast<const Stored<T>*>(p.weights) + int64_t(blockIdx.x) * p.n;
  A* sums = static_cast<A*>(p.sums) + int64_t(blockIdx.x) * p.n;
  A total = 0;
  for (uint32_t i = threadIdx.x; i < p.n; i += kBlock)
    total += widen<T>(weights[i]);
  total = Team{kBlock, false}.share(total, memory, Plus());
  A before = 0;
  for (uint32_t from = 0; from < p.n; from += kBlock) {
    const uint32_t i = from + threadIdx.x;
    A upto = i < p.n ? widen<T>(narrow<T>(widen<T>(weights[i]) / total)) : A(0);
    for (uint32_t by = 1; by < kWarp; by *= 2) {
      const A other = shuffle_up(upto, by);
      if (threadIdx.x % kWarp >= by) upto = other + upto;
    }
    if (threadIdx.x % kWarp == kWarp - 1) memory[threadIdx.x / kWarp] = upto;
    __syncthreads();
    A all = before;
    for (uint32_t w = 0; w < kBlock / kWarp; ++w) {
      if (w == threadIdx.x / kWarp) upto += all;
      all += memory[w];
    }
    before = all;
    if (i < p.n) sums[i] = widen<T>(narrow<T>(upto));
    __syncthreads();
  }
}

template <class T>
__device__ void multinomial_draw(const MultinomialParams& p) {
  using A = OpMath<T>;
  const uint64_t i = uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const uint64_t samples = p.samples, row = i / samples;
  if (row >= p.rows) return;
  const uint64_t sample = i - row * samples;
  // PyTorch's threads: whole blocks of samples, rows one above the other.
  const uint64_t width =
      uint64_t(ceil_divide(samples, kMultinomialBlock)) * kMultinomialBlock;
  float u[4];
  uniforms(p.state.here().words(row % kMultinomialRows * width + sample,
                                row / kMultinomialRows),
           u);
  const A value = widen<T>(narrow<T>(A(u[0])));
  const A* sums = static_cast<const A*>(p.sums) + int64_t(row) * p.n;
  uint32_t low = 0, high = p.n;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (sums[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == p.n) --low;
  // Nothing without weight is drawn, also where the sums end below 1.
  const auto* weights =
      static_cast<const Stored<T>*>(p.weights) + int64_t(row) * p.n;
  while (low > 0 && widen<T>(weights[low]) == A(0)) --low;
  static_cast<int64_t*>(p.out)[i] = low;
}

}  // namespace

#define HOTARU_MULTINOMIAL(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(MultinomialSums_##suffix, MultinomialParams, \
                           multinomial_sums<T>) \
  HOTARU_CUDA_KERNEL(MultinomialDraw_##suffix, MultinomialParams, \
                     multinomial_draw<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_MULTINOMIAL, )

}  // namespace hotaru::cuda
