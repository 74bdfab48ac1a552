// Elements chosen by value: masks and nonzero. See params/index/select.h for
// how they are launched.
#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/elements.h"
#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/device/words.h"
#include "hotaru/backend/cuda/params/index/select.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class Word>
__device__ bool is_set(const void* from, const SelectParams& p) {
  if constexpr (sizeof(Word) == 16) {
    const auto x = *static_cast<const Word16*>(from);
    return (x.low & p.bits[0]) != 0 || (x.high & p.bits[1]) != 0;
  } else {
    return (*static_cast<const Word*>(from) & Word(p.bits[0])) != 0;
  }
}

/// Where the thread's elements of the tile lie, and which are chosen.
template <class Word>
__device__ void look(const SelectParams& p, uint32_t tile, uint32_t end,
                     int64_t (&at)[kSelectEach][2],
                     bool (&chosen)[kSelectEach]) {
  uint32_t i[kSelectEach];
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kSelectEach; ++n) {
    const uint32_t position = tile + n * kBlock + threadIdx.x;
    i[n] = position < end ? position : tile;
  }
  p.at.find(i, at);
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kSelectEach; ++n)
    chosen[n] =
        is_set<Word>(static_cast<const char*>(p.chosen) + at[n][0], p) &&
        tile + n * kBlock + threadIdx.x < end;
}

__device__ uint32_t end_of_block(const SelectParams& p) {
  const uint32_t begin = blockIdx.x * p.chunk;
  return p.numel - begin < p.chunk ? p.numel : begin + p.chunk;
}

template <class Word>
__device__ void count(const SelectParams& p) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const uint32_t end = end_of_block(p);
  unsigned mine = 0;
  for (uint32_t tile = blockIdx.x * p.chunk; tile < end; tile += kSelectTile) {
    int64_t at[kSelectEach][2];
    bool chosen[kSelectEach];
    look<Word>(p, tile, end, at, chosen);
    HOTARU_UNROLL
    for (uint32_t n = 0; n < kSelectEach; ++n) mine += chosen[n];
  }
  if (mine) atomicAdd(&total, mine);
  __syncthreads();
  if (threadIdx.x == 0) p.counts[p.first_block + blockIdx.x] = total;
}

/// Sum of what `blocks` blocks have counted, for each thread of this one.
__device__ int64_t counted_by(const int64_t* counts, uint32_t blocks) {
  __shared__ unsigned long long total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  unsigned long long mine = 0;
  for (uint32_t b = threadIdx.x; b < blocks; b += kBlock)
    mine += (unsigned long long)(counts[b]);
  if (mine) atomicAdd(&total, mine);
  __syncthreads();
  return int64_t(total);
}

/// f(rank, position, offsets) for each chosen element, in row-major order.
template <class Word, class F>
__device__ void for_chosen(const SelectParams& p, const F& f) {
  __shared__ uint32_t counted[kSelectEach][kBlock / kWarp];
  int64_t base = counted_by(p.counts, p.first_block + blockIdx.x);
  const uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const uint32_t end = end_of_block(p);
  for (uint32_t tile = blockIdx.x * p.chunk; tile < end; tile += kSelectTile) {
    int64_t at[kSelectEach][2];
    bool chosen[kSelectEach];
    look<Word>(p, tile, end, at, chosen);
    uint32_t rank[kSelectEach];
    HOTARU_UNROLL
    for (uint32_t n = 0; n < kSelectEach; ++n) {
      const uint32_t votes = __ballot_sync(kAllLanes, chosen[n]);
      rank[n] = bits_set(votes & ((1u << lane) - 1));
      if (lane == 0) counted[n][warp] = bits_set(votes);
    }
    __syncthreads();
    HOTARU_UNROLL
    for (uint32_t n = 0; n < kSelectEach; ++n) {
      uint32_t earlier = 0, all = 0;
      HOTARU_UNROLL
      for (uint32_t w = 0; w < kBlock / kWarp; ++w) {
        if (w == warp) earlier = all;
        all += counted[n][w];
      }
      if (chosen[n])
        f(base + earlier + rank[n], tile + n * kBlock + threadIdx.x, at[n]);
      base += all;
    }
    __syncthreads();
  }
}

template <class Word>
__device__ void select(const SelectParams& p) {
  for_chosen<uint8_t>(p, [&](int64_t rank, uint32_t, const int64_t* at) {
    if (rank < p.room)
      static_cast<Word*>(p.out)[rank] = *reinterpret_cast<const Word*>(
          static_cast<const char*>(p.other) + at[1]);
  });
}

template <class Word>
__device__ void scatter_chosen(const SelectParams& p) {
  for_chosen<uint8_t>(p, [&](int64_t rank, uint32_t, const int64_t* at) {
    if (rank < p.room)
      *reinterpret_cast<Word*>(static_cast<char*>(p.other) + at[1]) =
          static_cast<const Word*>(p.out)[rank];
    else
      report_error(p.errors, 0, rank, p.room);
  });
}

template <class Word>
__device__ void positions(const SelectParams& p) {
  for_chosen<Word>(p, [&](int64_t rank, uint32_t position, const int64_t*) {
    if (rank >= p.room) return;
    int64_t* to = static_cast<int64_t*>(p.out) + rank + p.dims * p.room;
    int64_t rest = p.first + position;
    HOTARU_NO_UNROLL
    for (int d = 0; d < p.dims; ++d) {
      const int64_t above = rest / p.sizes[d];
      *(to -= p.room) = rest - above * p.sizes[d];
      rest = above;
    }
  });
}

__device__ void total_chosen(const TotalParams& p) {
  const int64_t total = counted_by(p.counts, p.blocks);
  if (threadIdx.x == 0) *p.total = total;
}

template <class T>
__device__ void run_starts(const RunParams& p) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= p.n) return;
  const auto* x = static_cast<const Stored<T>*>(p.in) + i;
  static_cast<uint8_t*>(p.starts)[i] = i == 0 || load<T>(x) != load<T>(x - 1);
}

}  // namespace

#define HOTARU_RUNS(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(RunStarts_##suffix, RunParams, run_starts<T>)
HOTARU_DEVICE_TYPES_RealAndBoolTypes(HOTARU_RUNS, )
    HOTARU_CUDA_BLOCK_KERNEL(TotalChosen, TotalParams, total_chosen)

#define HOTARU_WORDS(size, Word) \
  HOTARU_CUDA_BLOCK_KERNEL(CountChosen_##size, SelectParams, count<Word>) \
  HOTARU_CUDA_BLOCK_KERNEL(Select_##size, SelectParams, select<Word>) \
  HOTARU_CUDA_BLOCK_KERNEL(ScatterChosen_##size, SelectParams, \
                           scatter_chosen<Word>) \
  HOTARU_CUDA_BLOCK_KERNEL(Positions_##size, SelectParams, positions<Word>)
        HOTARU_WORDS(1, uint8_t) HOTARU_WORDS(2, uint16_t)
            HOTARU_WORDS(4, uint32_t) HOTARU_WORDS(8, uint64_t)
                HOTARU_WORDS(16, Word16)

}  // namespace hotaru::cuda
