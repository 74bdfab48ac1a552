// Products of 16-bit floats by tensor cores, summed in float. Eight warps have
// an output tile of kTensorSide squared, each 64 x 32 of it; tiles of operands
// come to shared memory two ahead, in the order in which they lie in memory,
// chunks of 16 bytes permuted so that eight rows lie in different banks.
#pragma once

#include "hotaru/backend/cuda/device/matmul/finish.h"
#include "hotaru/backend/cuda/device/matmul/tensor_carrier.h"

namespace hotaru::cuda {

/// Two neighbours of a row.
template <class T, class Params>
__device__ void finish_pair(const Params& p, uint32_t batch, uint32_t r,
                            uint32_t c, float left, float right) {
  if (r >= p.m || c >= p.n) return;
  const bool both = c + 1 < p.n;
  if (p.workspace) {
    float* to = static_cast<float*>(p.workspace) +
                (int64_t(blockIdx.y) * p.batch + batch) * p.m * p.n +
                int64_t(r) * p.n + c;
    to[0] = left;
    if (both) to[1] = right;
    return;
  }
  Vector<T, 2> v;
  v.at[0] = narrow<T>(finish<T>(p, left, batch, r, c));
  v.at[1] = both ? narrow<T>(finish<T>(p, right, batch, r, c + 1)) : 0;
  store_run<T>(p, output_of<T>(p, batch), r, c, both ? 2 : 1, v);
}

/// Source as in float_product().
template <class T, class Source>
__device__ void tensor_product(const typename Source::Params& p) {
  constexpr uint32_t kSide = kTensorSide, kDepth = kTensorDepth;
  constexpr uint32_t kStages = 3;
  constexpr uint32_t kTileBytes = kSide * kDepth * 2;
  constexpr uint32_t kWarpRows = 64, kWarpColumns = 32;
  constexpr bool kAAlong = Source::kLeftAlong, kBAlong = Source::kRightAlong;
  alignas(128) __shared__ char tiles[kStages][2][kTileBytes];
  const uint32_t rest = p.tiles_n.divide(blockIdx.x);
  const uint32_t first_column = (blockIdx.x - rest * p.tiles_n.divisor) * kSide;
  const uint32_t batch = p.tiles_m.divide(rest);
  const uint32_t first_row = (rest - batch * p.tiles_m.divisor) * kSide;
  const uint32_t begin = blockIdx.y * p.chunk;
  const uint32_t end = p.k - begin < p.chunk ? p.k : begin + p.chunk;
  const uint32_t warp = threadIdx.x / kWarp;
  const uint32_t warp_row = warp / 4 * kWarpRows,
                 warp_column = warp % 4 * kWarpColumns;

  typename Source::Left a(p, batch, first_row, begin);
  typename Source::Right b(p, batch, first_column, begin);
  const auto fetch = [&](uint32_t stage, uint32_t k) {
    if (k < end) {
      a.fetch(tiles[stage][0], k, end);
      b.fetch(tiles[stage][1], k, end);
    }
    end_copies();
  };
  Quad sums[kWarpRows / 16][kWarpColumns / 8] = {};
  HOTARU_UNROLL
  for (uint32_t s = 0; s + 1 < kStages; ++s) fetch(s, begin + s * kDepth);
  uint32_t stage = 0;
  HOTARU_NO_UNROLL
  for (uint32_t k = begin; k < end; k += kDepth) {
    await_copies<kStages - 2>();
    __syncthreads();  // the tile is there, and nobody reads the oldest one
    fetch(stage == 0 ? kStages - 1 : stage - 1, k + (kStages - 1) * kDepth);
    HOTARU_UNROLL
    for (uint32_t kk = 0; kk < kDepth; kk += 16) {
      uint32_t x[kWarpRows / 16][4];
      TensorPair y[kWarpColumns / 16];
      HOTARU_UNROLL
      for (uint32_t i = 0; i < kWarpRows / 16; ++i)
        OperandTile<kAAlong>::template load<kAAlong, false>(
            x[i], tiles[stage][0], warp_row + i * 16, kk);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kWarpColumns / 16; ++j)
        load_pair<OperandTile<kBAlong>::kChunks * kChunk, kBAlong>(
            y[j], tiles[stage][1], warp_column + j * 16, kk);
      HOTARU_UNROLL
      for (uint32_t i = 0; i < kWarpRows / 16; ++i) HOTARU_UNROLL
      for (uint32_t j = 0; j < kWarpColumns / 8; ++j)
        multiply_add<T>(sums[i][j], x[i], y[j / 2][j % 2]);
    }
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  const uint32_t row = first_row + warp_row + threadIdx.x % kWarp / 4;
  const uint32_t column = first_column + warp_column + threadIdx.x % 4 * 2;
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kWarpRows / 16; ++i) HOTARU_UNROLL
  for (uint32_t j = 0; j < kWarpColumns / 8; ++j) {
    const Quad& sum = sums[i][j];
    finish_pair<T>(p, batch, row + i * 16, column + j * 8, sum[0], sum[1]);
    finish_pair<T>(p, batch, row + i * 16 + 8, column + j * 8, sum[2], sum[3]);
  }
}

}  // namespace hotaru::cuda
