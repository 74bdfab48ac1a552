// Products by AMX of operands that are packed for it: pairs of bfloat16 in
// words of 32 bits, 16 words of depth a step.
#pragma once

#include <cstdint>

namespace hotaru::amx {

/// Most rows of a tile, and columns of a block of it; elements of a block's
/// sums.
inline constexpr int64_t kPackedRows = 32, kPackedColumns = 16,
                         kPackedSums = kPackedRows * kPackedColumns;
/// Most columns of a panel of B.
inline constexpr int64_t kMostWidth = 2 * kPackedColumns;

inline constexpr int64_t kCacheLine = 64;

/// Up to 32 rows of A times up to 2 blocks of B, or 16 times 4. Step (i, t) of
/// the depth reads rows of 16 words from a + i * outer_step + offsets[t] on,
/// and of each block of B 16 rows of 16 words, of one step after the other, or
/// from b + i * b_outer + b_offsets[t] on. Operands have any alignment.
struct PackedTile {
  const uint32_t* a;
  int64_t a_row;  // from a row to the next
  int64_t outer, outer_step;
  int64_t inner;
  const int64_t* offsets;
  const uint32_t* b;
  int64_t b_row, b_step, b_block;
  int64_t b_outer = 0;
  const int64_t* b_offsets = nullptr;
  /// Last step's B in another place, with rows of 16 words and blocks behind
  /// each other; or null.
  const uint32_t* rest;
  int rows, blocks;
  /// Sums are added to what is there.
  bool adds = false;
  /// Memory that later tiles read: so many lines of it are fetched into the
  /// second level of caches with each step. May reach beyond the end of memory.
  const char* ahead = nullptr;
  int64_t lines_ahead = 0;

  /// Fetches tile i's part, of so many tiles, of some bytes.
  void fetch(const void* from, int64_t bytes, int64_t i, int64_t tiles) {
    const int64_t lines = bytes / kCacheLine;
    const int64_t begin = lines * i / tiles, end = lines * (i + 1) / tiles;
    const int64_t steps = outer * inner;
    ahead = static_cast<const char*>(from) + begin * kCacheLine;
    lines_ahead = (end - begin + steps - 1) / steps;
  }
  /// From a row of the results to the next, and from block to block.
  int64_t to_row = kPackedColumns, to_block = kPackedSums;
};

/// Work that a core does while its tiles multiply, above all with the sums of
/// the tile before: `count` items in order, `least` or more at a time.
struct Meanwhile {
  void (*run)(const void* context, int64_t begin, int64_t end) = nullptr;
  const void* context = nullptr;
  int64_t least = 1;
  int64_t count = 0;

  void run_all() const {
    if (count > 0) run(context, 0, count);
  }
};

/// to: of each block [rows, 16] sums. By the processor's tiles, best within a
/// TileScope, or emulated ones; there must be one of them.
void multiply_tile(const PackedTile& t, float* to, const Meanwhile& other);

}  // namespace hotaru::amx
