// Products of 16-bit floats by tensor cores, summed in float. Eight warps have
// an output tile of kTensorSide squared, each 64 x 32 of it; tiles of operands
// come to shared memory two ahead, in the order in which they lie in memory,
// chunks of 16 bytes permuted so that eight rows lie in different banks. See
// params/matmul.h for how it is launched.
#include "hotaru/backend/cuda/device/matmul/finish.h"
#include "hotaru/backend/cuda/device/tensor_tile.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

constexpr uint32_t kSide = kTensorSide, kDepth = kTensorDepth;
constexpr uint32_t kStages = 3;
constexpr uint32_t kTileBytes = kSide * kDepth * 2;
constexpr uint32_t kWarpRows = 64, kWarpColumns = 32;

/// A tile of one operand: with kAlong rows of kDepth products, else kDepth rows
/// of kSide.
template <bool kAlong>
using Tile = TensorTile<kAlong ? kDepth : kSide>;

/// A thread's part in bringing tiles of one operand: two chunks of each.
template <bool kAlong>
struct Carrier {
  static constexpr uint32_t kChunks = 2;
  static constexpr uint32_t kPerRow = (kAlong ? kDepth : kSide) / kChunk;

  const uint16_t* from[kChunks];
  int64_t advance;
  uint32_t target[kChunks];
  uint32_t product[kChunks];  // of the chunk's first element
  uint32_t room[kChunks];     // elements inside in the other direction

  /// Of rows [first, limit) of what starts at `base`.
  __device__ Carrier(const void* base, int64_t along_step, int64_t other_step,
                     uint32_t first, uint32_t limit, uint32_t begin) {
    advance = kDepth * along_step;
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kChunks; ++i) {
      const uint32_t n = threadIdx.x + i * kBlock;
      const uint32_t row = n / kPerRow, chunk = n % kPerRow;
      const uint32_t other = first + (kAlong ? row : chunk * kChunk);
      product[i] = kAlong ? chunk * kChunk : row;
      room[i] = other < limit ? limit - other : 0;
      target[i] = Tile<kAlong>::offset(row, chunk);
      from[i] = static_cast<const uint16_t*>(base) +
                (int64_t(begin) + product[i]) * along_step +
                int64_t(other) * other_step;
    }
  }

  /// Begins to copy the part of the tile whose first product is `k`; what is
  /// not there becomes 0.
  __device__ void fetch(char* tile, uint32_t k, uint32_t end) {
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kChunks; ++i) {
      const uint32_t at = k + product[i];
      const uint32_t left = at < end ? end - at : 0;
      const uint32_t elements =
          kAlong ? (room[i] ? left : 0) : (left ? room[i] : 0);
      copy_async(tile + target[i], from[i],
                 elements < kChunk ? elements * 2 : kChunk * 2);
      from[i] += advance;
    }
  }
};

/// Two neighbours of a row.
template <class T>
__device__ void put(const MatmulParams& p, uint32_t batch, uint32_t r,
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
  uint16_t* to = static_cast<uint16_t*>(p.out) + int64_t(batch) * p.out_batch +
                 int64_t(r) * p.out_row + c;
  const uint16_t x = narrow<T>(finish<T>(p, left, batch, r, c));
  const uint16_t y = both ? narrow<T>(finish<T>(p, right, batch, r, c + 1)) : 0;
  if (both && p.out_vectors) {
    *reinterpret_cast<uint32_t*>(to) = x | uint32_t(y) << 16;
  } else {
    to[0] = x;
    if (both) to[1] = y;
  }
}

template <class T, bool kAAlong, bool kBAlong>
__device__ void tensor_gemm(const MatmulParams& p) {
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

  Carrier<kAAlong> a(
      static_cast<const uint16_t*>(p.a) + int64_t(batch) * p.a_at.batch,
      p.a_at.column, p.a_at.row, first_row, p.m, begin);
  Carrier<kBAlong> b(
      static_cast<const uint16_t*>(p.b) + int64_t(batch) * p.b_at.batch,
      p.b_at.row, p.b_at.column, first_column, p.n, begin);
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
        Tile<kAAlong>::template load<kAAlong, false>(x[i], tiles[stage][0],
                                                     warp_row + i * 16, kk);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kWarpColumns / 16; ++j)
        load_pair<Tile<kBAlong>::kChunks * kChunk, kBAlong>(
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
    put<T>(p, batch, row + i * 16, column + j * 8, sum[0], sum[1]);
    put<T>(p, batch, row + i * 16 + 8, column + j * 8, sum[2], sum[3]);
  }
}

}  // namespace

#define HOTARU_TENSOR(T, suffix, order, a_along, b_along) \
  HOTARU_CUDA_CROWDED_KERNEL(GemmTensor_##suffix##order, 2, MatmulParams, \
                             tensor_gemm<T, a_along, b_along>)
#define HOTARU_TENSOR_ORDERS(T, suffix) \
  HOTARU_TENSOR(T, suffix, _nn, true, false) \
  HOTARU_TENSOR(T, suffix, _nt, true, true) \
  HOTARU_TENSOR(T, suffix, _tn, false, false) \
  HOTARU_TENSOR(T, suffix, _tt, false, true)
HOTARU_TENSOR_ORDERS(Half, f16)
HOTARU_TENSOR_ORDERS(BFloat16, bf16)

}  // namespace hotaru::cuda
