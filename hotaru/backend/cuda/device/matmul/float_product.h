// Matrix products without tensor cores: tiles in shared memory, squares of
// outputs in registers. The scheme is that of Volkov and Demmel,
// "Benchmarking GPUs to tune dense linear algebra" (2008), with two buffers.
#pragma once

#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/matmul/finish.h"

namespace hotaru::cuda {

/// Source says where tiles of the operands come from, and Source::Params where
/// outputs go (store_run).
template <class T, uint32_t kSide, class Source>
__device__ void float_product(const typename Source::Params& p) {
  using A = OpMath<T>;
  constexpr uint32_t kDepth = tile_depth(kSide);
  constexpr uint32_t kEach = kSide / kSquare;
  // A thread's rows and columns come in runs of kRun, the runs far apart.
  constexpr uint32_t kRun = kEach < 4 ? kEach : 4;
  constexpr uint32_t kApart = kSide / (kEach / kRun);
  alignas(32) __shared__ A tiles[2][2][kDepth][operand_pitch(kSide)];

  const uint32_t rest = p.tiles_n.divide(blockIdx.x);
  const uint32_t first_column = (blockIdx.x - rest * p.tiles_n.divisor) * kSide;
  const uint32_t batch = p.tiles_m.divide(rest);
  const uint32_t first_row = (rest - batch * p.tiles_m.divisor) * kSide;
  const uint32_t begin = blockIdx.y * p.chunk;
  const uint32_t end = p.k - begin < p.chunk ? p.k : begin + p.chunk;
  const uint32_t mine_row = threadIdx.x / kSquare * kRun,
                 mine_column = threadIdx.x % kSquare * kRun;

  typename Source::Left a(p, batch, first_row, begin);
  typename Source::Right b(p, batch, first_column, begin);
  A sums[kEach][kEach] = {};
  uint32_t buffer = 0;
  if (begin < end) {
    a.fetch(begin, end);
    b.fetch(begin, end);
    a.put(tiles[0][0]);
    b.put(tiles[0][1]);
    __syncthreads();
  }
  HOTARU_NO_UNROLL
  for (uint32_t k = begin; k < end; k += kDepth) {
    const bool more = end - k > kDepth;
    if (more) {
      a.fetch(k + kDepth, end);
      b.fetch(k + kDepth, end);
    }
    HOTARU_UNROLL
    for (uint32_t kk = 0; kk < kDepth; ++kk) {
      A x[kEach], y[kEach];
      HOTARU_UNROLL
      for (uint32_t i = 0; i < kEach; ++i) {
        const uint32_t at = i / kRun * kApart + i % kRun;
        x[i] = tiles[buffer][0][kk][mine_row + at];
        y[i] = tiles[buffer][1][kk][mine_column + at];
      }
      HOTARU_UNROLL
      for (uint32_t i = 0; i < kEach; ++i) HOTARU_UNROLL
      for (uint32_t j = 0; j < kEach; ++j) sums[i][j] += x[i] * y[j];
    }
    if (more) {
      buffer ^= 1;
      a.put(tiles[buffer][0]);
      b.put(tiles[buffer][1]);
      __syncthreads();
    }
  }

  Stored<T>* const out = output_of<T>(p, batch);
  auto* partial = static_cast<A*>(p.workspace);
  if (partial) partial += (int64_t(blockIdx.y) * p.batch + batch) * p.m * p.n;
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kEach; ++i) {
    const uint32_t r = first_row + mine_row + i / kRun * kApart + i % kRun;
    HOTARU_UNROLL
    for (uint32_t run = 0; run < kEach; run += kRun) {
      const uint32_t c = first_column + mine_column + run / kRun * kApart;
      if (r >= p.m || c >= p.n) continue;
      const uint32_t count = p.n - c < kRun ? p.n - c : kRun;
      if (partial) {
        HOTARU_UNROLL
        for (uint32_t j = 0; j < kRun; ++j)
          if (j < count) partial[int64_t(r) * p.n + c + j] = sums[i][run + j];
        continue;
      }
      Vector<T, kRun> v;
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kRun; ++j)
        if (j < count)
          v.at[j] = narrow<T>(finish<T>(p, sums[i][run + j], batch, r, c + j));
      store_run<T>(p, out, r, c, count, v);
    }
  }
}

/// Blocks of large tiles on a processor. Two would leave 16-bit elements short
/// of a few registers.
template <class T>
constexpr int kCrowd = sizeof(Stored<T>) == 2 ? 1 : 2;

}  // namespace hotaru::cuda
