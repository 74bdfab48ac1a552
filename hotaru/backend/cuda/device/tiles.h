// Products of tiles of floats in shared memory, whose sums are in the registers
// of a block's threads.
//
// A tile is row-major with rows of tile_pitch(width) floats and begins at a
// multiple of 16 bytes. The threads form a square of kSide; a thread has the
// rows tile_row(i) of the result, and of its columns either tile_column(j),
// those of scores, or run_column<width>(j), neighbours that are stored at once.
#pragma once

#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/params/attention.h"

namespace hotaru::cuda {

inline constexpr uint32_t kSide = 16;
static_assert(kSide * kSide == kBlock);

__device__ inline uint32_t tile_row(uint32_t i) {
  return threadIdx.x / kSide + i * kSide;
}
__device__ inline uint32_t tile_column(uint32_t j) {
  return threadIdx.x % kSide + j * kSide;
}
/// Columns of a run.
template <uint32_t kWidth>
inline constexpr uint32_t kRun = kWidth / kSide < 4 ? kWidth / kSide : 4;
template <uint32_t kWidth>
__device__ inline uint32_t run_column(uint32_t j) {
  constexpr uint32_t kLength = kRun<kWidth>;
  return (j / kLength * kSide + threadIdx.x % kSide) * kLength + j % kLength;
}

/// Sums that a thread has of a result of kRows rows and kColumns columns.
template <uint32_t kRows, uint32_t kColumns>
using TileSums = float[kRows / kSide][kColumns / kSide];

/// sums += a b^T for a [kRows, kDepth] and b [kColumns, kDepth]; columns are
/// tile_column's.
template <uint32_t kRows, uint32_t kColumns, uint32_t kDepth>
__device__ inline void add_product_of_rows(TileSums<kRows, kColumns>& sums,
                                           const float* a, const float* b) {
  using Four = Vector<float, 4>;
  constexpr uint32_t kPitch = tile_pitch(kDepth);
  constexpr uint32_t kI = kRows / kSide, kJ = kColumns / kSide;
  a += tile_row(0) * kPitch;
  b += tile_column(0) * kPitch;
  HOTARU_NO_UNROLL
  for (uint32_t k = 0; k < kDepth; k += 4) {
    Four y[kJ];
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kJ; ++j)
      y[j] = load_vector<Four>(b + j * kSide * kPitch + k);
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kI; ++i) {
      const Four x = load_vector<Four>(a + i * kSide * kPitch + k);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kJ; ++j) HOTARU_UNROLL
      for (uint32_t d = 0; d < 4; ++d) sums[i][j] += x.at[d] * y[j].at[d];
    }
  }
}

/// sums += a b for a [kRows, kDepth] and b [kDepth, kColumns]; columns are
/// run_column's.
template <uint32_t kRows, uint32_t kColumns, uint32_t kDepth>
__device__ inline void add_product(TileSums<kRows, kColumns>& sums,
                                   const float* a, const float* b) {
  using Four = Vector<float, 4>;
  constexpr uint32_t kLength = kRun<kColumns>;
  using Run = Vector<float, kLength>;
  constexpr uint32_t kPitchA = tile_pitch(kDepth),
                     kPitchB = tile_pitch(kColumns);
  constexpr uint32_t kI = kRows / kSide, kRuns = kColumns / kSide / kLength;
  a += tile_row(0) * kPitchA;
  b += run_column<kColumns>(0);
  HOTARU_NO_UNROLL
  for (uint32_t k = 0; k < kDepth; k += 4) {
    Four x[kI];
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kI; ++i)
      x[i] = load_vector<Four>(a + i * kSide * kPitchA + k);
    HOTARU_UNROLL
    for (uint32_t d = 0; d < 4; ++d) HOTARU_UNROLL
    for (uint32_t r = 0; r < kRuns; ++r) {
      const Run y =
          load_vector<Run>(b + (k + d) * kPitchB + r * kSide * kLength);
      HOTARU_UNROLL
      for (uint32_t i = 0; i < kI; ++i) HOTARU_UNROLL
      for (uint32_t j = 0; j < kLength; ++j)
        sums[i][r * kLength + j] += x[i].at[d] * y.at[j];
    }
  }
}

/// Fills a tile [kRows, kWidth] with rows of `width` elements times `factor`,
/// zeros beyond them and beyond `rows`. The block has to wait afterwards.
template <class T, uint32_t kRows, uint32_t kWidth>
__device__ inline void fill_tile(float* tile, const Stored<T>* from,
                                 int64_t step, uint32_t rows, uint32_t width,
                                 bool vectors, float factor = 1) {
  using Four = Vector<T, 4>;
  constexpr uint32_t kFours = kWidth / 4;
  HOTARU_NO_UNROLL
  for (uint32_t i = threadIdx.x; i < kRows * kFours; i += kBlock) {
    const uint32_t row = i / kFours, column = i % kFours * 4;
    const Stored<T>* at = from + int64_t(row) * step + column;
    const uint32_t real = row < rows && column < width
                              ? (width - column < 4 ? width - column : 4)
                              : 0;
    Vector<float, 4> to = {};
    if (vectors && real == 4) {
      const Four v = load_vector<Four>(at);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < 4; ++j) to.at[j] = widen<T>(v.at[j]) * factor;
    } else {
      HOTARU_UNROLL
      for (uint32_t j = 0; j < 4; ++j)
        if (j < real) to.at[j] = widen<T>(at[j]) * factor;
    }
    store_vector(tile + row * tile_pitch(kWidth) + column, to);
  }
}

/// Stores what a thread has, times factors[i], to rows and columns that exist.
template <class T, uint32_t kRows, uint32_t kWidth>
__device__ inline void store_tile(const TileSums<kRows, kWidth>& sums,
                                  const float (&factors)[kRows / kSide],
                                  Stored<T>* to, int64_t step, uint32_t rows,
                                  uint32_t width, bool vectors) {
  constexpr uint32_t kLength = kRun<kWidth>;
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kRows / kSide; ++i) {
    const uint32_t row = tile_row(i);
    if (row >= rows) continue;
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kWidth / kSide; j += kLength) {
      const uint32_t column = run_column<kWidth>(j);
      Vector<T, kLength> v;
      HOTARU_UNROLL
      for (uint32_t n = 0; n < kLength; ++n)
        v.at[n] = narrow<T>(sums[i][j + n] * factors[i]);
      Stored<T>* at = to + int64_t(row) * step + column;
      if (vectors && column + kLength <= width) {
        store_vector(at, v);
      } else {
        HOTARU_UNROLL
        for (uint32_t n = 0; n < kLength; ++n)
          if (column + n < width) at[n] = v.at[n];
      }
    }
  }
}

}  // namespace hotaru::cuda
