// Elementwise calls become one where they work on the same elements: a chain
// reads its inputs and writes its results once, and what lies between never
// reaches memory.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Replaces calls by graph_fused (fused_call.h) and takes the values that only
/// they touched out of the region. Results stay the same to the bit.
///
/// A group's outputs have one shape; inputs may broadcast to it; reductions of
/// rows, of at most RowReduction::kMaxRow elements, may follow. A call joins
/// a group if it touches something that the group touches, if nothing that
/// comes between depends on the group and matters to the call, and if what it
/// shares with the group, and one of them writes, is the same elements for
/// both: never views that overlap otherwise.
void fuse_pointwise(Region& region);

}  // namespace hotaru::graph
