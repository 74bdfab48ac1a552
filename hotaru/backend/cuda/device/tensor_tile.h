// Tiles of 16-bit floats in shared memory, as tensor cores take them: rows of
// kColumns, in chunks of 16 bytes that are permuted so that eight rows lie in
// different banks.
#pragma once

#include "hotaru/backend/cuda/device/mma.h"

namespace hotaru::cuda {

/// Elements of 16 bytes.
inline constexpr uint32_t kChunk = 8;

template <uint32_t kColumns>
struct TensorTile {
  static constexpr uint32_t kRowBytes = kColumns * 2;
  static constexpr uint32_t kChunks = kColumns / kChunk;
  static_assert(kChunks == 4 || kChunks % 8 == 0);

  /// Where a chunk of a row lies.
  __device__ static uint32_t offset(uint32_t row, uint32_t chunk) {
    const uint32_t turn = kChunks == 4 ? row >> 1 & 3 : row & 7;
    return row * kRowBytes + ((chunk ^ turn) << 4);
  }

  /// Four matrices of 8 x 8 from (first, product) on: two in the direction of
  /// the result's rows or columns, two in the products'. kAlong: products lie
  /// along the tile's rows. kProductsFirst: which comes next; of a 16 x 16 part
  /// of the left operand the other one does.
  template <bool kAlong, bool kProductsFirst>
  __device__ static void load(uint32_t (&to)[4], const char* tile,
                              uint32_t first, uint32_t product) {
    const uint32_t matrix = threadIdx.x % kWarp / 8, row = threadIdx.x % 8;
    const uint32_t one = matrix & 1, two = matrix >> 1;
    const uint32_t at = first + (kProductsFirst ? two : one) * 8;
    const uint32_t k = product + (kProductsFirst ? one : two) * 8;
    if constexpr (kAlong)
      load_matrices<false>(to, tile + offset(at + row, k / kChunk));
    else
      load_matrices<true>(to, tile + offset(k + row, at / kChunk));
  }
};

/// Two parts of the right operand, eight columns each.
using TensorPair = uint32_t[2][2];

/// TensorTile::load of a right operand.
template <uint32_t kColumns, bool kAlong>
__device__ inline void load_pair(TensorPair& to, const char* tile,
                                 uint32_t first, uint32_t product) {
  uint32_t four[4];
  TensorTile<kColumns>::template load<kAlong, true>(four, tile, first, product);
  to[0][0] = four[0], to[0][1] = four[1];
  to[1][0] = four[2], to[1][1] = four[3];
}

}  // namespace hotaru::cuda
