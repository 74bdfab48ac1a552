// Parameters of sorting and of searching, and how they are launched.
//
//   SortTiles_<suffix>   elements become entries (`to`), sorted by kSortTile
//     grid  lines * tiles; threads wait for each other
//   SortMerge            then, for width = kSortTile, twice that, ... below the
//                        length: runs in `from` become twice as long in `to`
//     grid  ceil(lines * length / kBlock)
//   SortEnd_<suffix>     at last: what is asked for, out of the sorted `from`
//     grid  ceil(lines * count / kBlock)
//   parameters   SortParams for all
//   SearchSorted_<suffix>  SearchParams; a thread a value
//
// Suffixes are those of params/types.h; blocks have kBlock threads.
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// An element by its order, and where it stood in its line: no two are equal.
struct SortEntry {
  uint64_t key;
  uint32_t position;
};

/// Which entries of a sorted line are put into the outputs.
enum class SortPick : uint8_t {
  kRange,   // `count` from `first` on
  kMedian,  // the lower of the middle two; NaN if there is one, or without them
  kMode,    // the last one of the most frequent, the smallest of several
};

struct SortParams {
  void* values = nullptr;
  void* indices = nullptr;  // int64
  const void* in = nullptr;
  /// Bytes from one to the next of a line.
  int64_t value_step = 0, index_step = 0, in_step = 0;
  /// [lines, length]
  const SortEntry* from = nullptr;
  SortEntry* to = nullptr;
  uint32_t lines = 1, length = 1;
  /// Tiles of a line.
  Divider tiles;
  uint32_t width = 1;
  uint32_t first = 0, count = 1;
  SortPick pick = SortPick::kRange;
  bool descending = false, skip_nan = false;
  /// The other dimensions. Operands: values, indices, in.
  Index<3> others;
};

/// Entries that a block sorts in shared memory.
inline constexpr uint32_t kSortTile = 1024;

/// Rows of sorted boundaries, or of positions (`order`) that sort them.
struct SearchParams {
  void* out = nullptr;  // int64, or int32 with `narrow`
  const void* boundaries = nullptr;
  const void* values = nullptr;
  const int64_t* order = nullptr;
  int64_t numel = 0;
  /// Boundaries of a row, and values that search in the same one.
  int64_t length = 0, per_row = 1;
  bool narrow = false, right = false, nan_last = false;
};

}  // namespace hotaru::cuda
