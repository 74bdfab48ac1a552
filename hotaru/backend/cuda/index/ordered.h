// Writing at targets in one order, for whom a program asked for the same bits
// in each run (torch.use_deterministic_algorithms): where others add by
// atomics, positions are sorted by their targets. See params/index/ordered.h.
#pragma once

#include "hotaru/backend/common/index/gather.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/index/ordered.h"

namespace hotaru::cuda {

/// Tells whether a program asked for one order, and such writes have none else.
bool keeps_order(DType dtype, WriteMode mode);

/// Positions that one sort takes: what is more is written in turns.
int64_t most_ordered();

/// Write by fewer positions than 2^31, which say what goes where.
struct OrderedWrite {
  /// In the order in which they count. Operands: part, whole and the index, of
  /// which the part's bytes are looked at.
  Geometry<3> positions;
  /// Elements that each of them moves. Operands: part and whole, whose
  /// addresses are those of the positions.
  Geometry<2> columns;
  /// Targets of positions, in bytes from the whole's start; or kNoTarget.
  const int64_t* targets;
};
/// Writes; of equal targets all count, in their order; with kAssign the last
/// one.
void write_ordered(const OrderedWrite& what, DType dtype, WriteMode mode);

/// Adds the i-th of `count` elements that lie side by side, to its target.
void add_ordered(const void* elements, void* whole, const int64_t* targets,
                 int64_t count, DType dtype);

/// The space of IndexedParams: dimensions along which the index does not change
/// are columns, unless targets may be equal there.
void write_indexed_ordered(const Geometry<3>& row_major,
                           const IndexedParams& params, DType dtype,
                           WriteMode mode);
/// Adds to a view whose elements may share memory. Operands: the view, what is
/// added; in the order of dimensions.
void add_strided_ordered(const Geometry<2>& space, DType dtype);

}  // namespace hotaru::cuda
