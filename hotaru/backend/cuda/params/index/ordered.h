// Parameters of the kernels that write at targets in the order of positions,
// and how they are launched, one after another:
//
//   IndexTargets         TargetsParams  where each position writes; an index
//                                       out of range is reported
//   StridedTargets       TargetsParams  the same where there is no index
//     grid  kStridedItems positions a block; others that find targets:
//           PlaneTargets (params/pool.h), PadTargets (params/join.h),
//           HistogramTargets_<suffix> (params/histogram.h)
//   SortTiles_i64, SortMerge (params/sort/sort.h)  the targets, stable
//   OrderedAssign_<bytes>   OrderedParams  the last of each run of equal
//                                          targets wins
//   OrderedAdd_<suffix>, OrderedMultiply_, OrderedMax_, OrderedMin_
//                           OrderedParams  whole op= part, of each run one
//                           after
//                                          another, rounded each time
//     grid  a thread for each entry and column
//
// Suffixes are the floating ones of params/types.h, of sums and products also
// c64 and c128: what is whole numbers has no order. Blocks have kBlock threads;
// those of Ordered* and *Targets do not wait for each other.
#pragma once

#include "hotaru/backend/cuda/params/index/gather.h"
#include "hotaru/backend/cuda/params/sort/sort.h"

namespace hotaru::cuda {

struct TargetsParams {
  /// Its positions are looked at, and nothing is moved.
  IndexedParams indexed;
  /// Bytes from the whole's start, or kNoTarget.
  int64_t* targets = nullptr;
};

struct OrderedParams {
  void* whole = nullptr;
  const void* part = nullptr;
  /// Targets as keys, sorted.
  const SortEntry* sorted = nullptr;
  uint32_t entries = 0;
  /// Elements that each position stands for.
  Divider columns;
  /// Where a position is in the part, the first operand.
  Index<3> positions;
  /// Offsets that a column adds to those of part and whole.
  Index<2> beside;
};

/// The int64 that a sorted key stands for.
constexpr int64_t target_of(uint64_t key) {
  return int64_t(key ^ uint64_t{1} << 63);
}

}  // namespace hotaru::cuda
