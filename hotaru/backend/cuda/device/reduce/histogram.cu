// Histograms of one column. See params/histogram.h for how they are launched.
#include "hotaru/backend/common/reduce/bins.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/histogram.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// add(bin, element) for what this thread has.
template <class T, class Bin, class F>
__device__ void for_binned(const HistogramParams& p, const Bin& bin,
                           const F& add) {
  const T* x = static_cast<const T*>(p.in);
  const uint64_t threads = uint64_t{gridDim.x} * kBlock;
  HOTARU_NO_UNROLL
  for (uint64_t i = uint64_t{blockIdx.x} * kBlock + threadIdx.x; i < p.numel;
       i += threads)
    if (bin.holds(x[i])) add(bin(x[i]), i);
}
template <class T, class F>
__device__ void for_binned(const HistogramParams& p, const F& add) {
  if (p.edges)
    for_binned<T>(
        p, BetweenEdges<T>{static_cast<const T*>(p.edges), p.bins, p.equal},
        add);
  else
    for_binned<T>(
        p, EqualBins<T>{T(p.low), T(p.high), T(p.high - p.low), p.bins}, add);
}

/// Adds amount(i) of each element to sums, by way of the block's own, Mine,
/// where the bins are few.
template <class T, class Mine, class Sum, class F>
__device__ void add_up(const HistogramParams& p, Sum* sums, const F& amount) {
  if (!p.shared()) {
    for_binned<T>(p, [&](int64_t bin, uint64_t i) {
      atomicAdd(&sums[bin], Sum(amount(i)));
    });
    return;
  }
  Mine* mine = dynamic_shared<Mine>();
  for (int64_t b = threadIdx.x; b < p.bins; b += kBlock) mine[b] = 0;
  __syncthreads();
  for_binned<T>(p, [&](int64_t bin, uint64_t i) {
    atomicAdd(&mine[bin], Mine(amount(i)));
  });
  __syncthreads();
  for (int64_t b = threadIdx.x; b < p.bins; b += kBlock)
    if (mine[b] != 0) atomicAdd(&sums[b], Sum(mine[b]));
}

/// In whole numbers, as a float could not be counted up past 2^24.
template <class T>
__device__ void histogram_count(const HistogramParams& p) {
  add_up<T, unsigned>(p, p.counts, [](uint64_t) { return 1u; });
}
template <class T>
__device__ void histogram_store(const HistogramParams& p) {
  const int64_t b = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (b < p.bins) static_cast<T*>(p.out)[b] = T(p.counts[b]);
}
template <class T>
__device__ void histogram_weigh(const HistogramParams& p) {
  const T* weights = static_cast<const T*>(p.weights);
  add_up<T, T>(p, static_cast<T*>(p.out),
               [=](uint64_t i) { return weights[i]; });
}

template <class T>
__device__ void histogram_targets(const HistogramParams& p) {
  for_binned<T>(p, [&](int64_t bin, uint64_t i) {
    p.targets[i] = bin * int64_t(sizeof(T));
  });
}

}  // namespace

#define HOTARU_HISTOGRAM(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(HistogramCount_##suffix, HistogramParams, \
                           histogram_count<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(HistogramWeigh_##suffix, HistogramParams, \
                           histogram_weigh<T>) \
  HOTARU_CUDA_KERNEL(HistogramStore_##suffix, HistogramParams, \
                     histogram_store<T>) \
  HOTARU_CUDA_KERNEL(HistogramTargets_##suffix, HistogramParams, \
                     histogram_targets<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_HISTOGRAM, )

}  // namespace hotaru::cuda
