// Parameters of sorting long lines by digits of kRadixBits, least significant
// first, and how the kernels are launched.
//
//   RadixEntries_<suffix>  elements become entries (`to`) in their order;
//                          SortParams, a thread an element of all lines
//   then for each digit
//   RadixCount_<bytes>     how many entries of each block have each digit
//   RadixScan              how many entries of a digit come in earlier blocks,
//                          and in all; a block for each digit of each line
//   RadixScatter_<bytes>   entries to their places; of the last digit of those
//                          of 8 bytes RadixScatter_last
//   parameters   RadixParams
//   grid         lines * blocks, but for RadixScan: lines * kRadixDigits
//
// Entries of elements of up to 32 bits are one number of 64, the key above the
// position; others are SortEntry, as they all are at the end. Suffixes are
// those of params/types.h; blocks have kBlock threads.
#pragma once

#include "hotaru/backend/cuda/params/sort/sort.h"

namespace hotaru::cuda {

inline constexpr uint32_t kRadixBits = 8, kRadixDigits = 1 << kRadixBits;
static_assert(kRadixDigits == kBlock);

struct RadixParams {
  /// [lines, length]
  const void* from = nullptr;
  void* to = nullptr;
  /// [lines, digits, blocks]; RadixScan makes sums of those before.
  uint32_t* counts = nullptr;
  /// [lines, digits]
  uint32_t* totals = nullptr;
  uint32_t length = 1;
  /// Entries of a block, and blocks of a line.
  uint32_t chunk = 1;
  Divider blocks;
  /// Where the digit begins in the key.
  uint32_t shift = 0;
};

/// Entries of a thread between two barriers, and of a block.
inline constexpr uint32_t kRadixEach = 8, kRadixTile = kBlock * kRadixEach;

/// Sets p.chunk and p.blocks for lines of p.length, with about `blocks` in all.
constexpr void plan_radix(RadixParams& p, uint32_t lines, int64_t blocks) {
  const int64_t tiles = ceil_divide(p.length, kRadixTile);
  const int64_t most = blocks > lines ? ceil_divide(blocks, lines) : 1;
  p.chunk =
      uint32_t(ceil_divide(tiles, tiles < most ? tiles : most) * kRadixTile);
  p.blocks = Divider(uint32_t(ceil_divide(p.length, p.chunk)));
}
/// Passes over keys of elements of so many bytes.
constexpr uint32_t radix_passes(uint32_t bytes) {
  return bytes * 8 / kRadixBits;
}

}  // namespace hotaru::cuda
