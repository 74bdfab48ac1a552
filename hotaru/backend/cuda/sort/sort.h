// Lines of elements in their order, for those who launch what reads them.
#pragma once

#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/sort/sort.h"

namespace hotaru::cuda {

/// The entries of lines, sorted; equal elements stay in their order. In memory
/// for the time of a call.
class SortedEntries {
 public:
  /// Sorts the lines of `p.in`; p's other operands don't matter.
  SortedEntries(SortParams p, DType dtype);
  /// Sorts one line, row-major.
  SortedEntries(const int64_t* keys, uint32_t length);
  /// [lines, length]
  const SortEntry* data() const { return sorted_; }

 private:
  Workspace room_;
  const SortEntry* sorted_;
};

/// For tests: from which length on, above kSortTile, lines are sorted by
/// digits, and by how many blocks for each processor; 0 is as few as there are
/// lines.
void set_radix(uint32_t length, int blocks);

}  // namespace hotaru::cuda
