// Copies between layouts: where neighbours of the input are no neighbours of
// the output. See params/create.h for how they are launched.
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/device/words.h"
#include "hotaru/backend/cuda/params/create.h"

namespace hotaru::cuda {
namespace {

template <class Word>
__device__ void transpose(const TransposeParams& p) {
  // A column more than there is, so that columns lie in different banks.
  __shared__ Word tile[kTile][kTile + 1];
  constexpr uint32_t kRows = kBlock / kTile;
  const uint32_t x = threadIdx.x % kTile, y = threadIdx.x / kTile;
  const uint32_t row = p.tiles_a.divide(blockIdx.x);
  const uint32_t a0 = (blockIdx.x - row * p.tiles_a.divisor) * kTile;
  uint32_t copy[1] = {p.tiles_b.divide(row)};
  const uint32_t b0 = (row - copy[0] * p.tiles_b.divisor) * kTile;
  int64_t at[1][2];
  p.others.find(copy, at);
  const char* in = static_cast<const char*>(p.in) + at[0][1];
  char* out = static_cast<char*>(p.out) + at[0][0];
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kTile; i += kRows) {
    const uint32_t a = a0 + x, b = b0 + y + i;
    if (a < p.a && b < p.b)
      tile[y + i][x] = reinterpret_cast<const Word*>(in + b * p.in_step)[a];
  }
  __syncthreads();
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kTile; i += kRows) {
    const uint32_t a = a0 + y + i, b = b0 + x;
    if (a < p.a && b < p.b)
      reinterpret_cast<Word*>(out + a * p.out_step)[b] = tile[x][y + i];
  }
}

}  // namespace

HOTARU_CUDA_BLOCK_KERNEL(Transpose_1, TransposeParams, transpose<uint8_t>)
HOTARU_CUDA_BLOCK_KERNEL(Transpose_2, TransposeParams, transpose<uint16_t>)
HOTARU_CUDA_BLOCK_KERNEL(Transpose_4, TransposeParams, transpose<uint32_t>)
HOTARU_CUDA_BLOCK_KERNEL(Transpose_8, TransposeParams, transpose<uint64_t>)

}  // namespace hotaru::cuda
