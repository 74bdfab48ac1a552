// Programmatic dependent launch: in a graph a kernel may be set up, its blocks
// resident, while those before it end. It waits for them itself, at its start.
#pragma once

#include <unordered_set>

#include "hotaru/backend/cuda/driver_types.h"

namespace hotaru::cuda {

/// Lets edges between two of `waiting`, which begin with begin_kernel()
/// (device/platform.h), be of that kind. All others stay full: libraries' and
/// users' kernels, copies and fills wait for nothing themselves. That edges
/// which follow from others are left out does no harm: what a kernel waits for
/// has itself waited for all before it. Without effect where a driver refuses
/// or knows of no such edges.
void make_dependent(CUgraph graph,
                    const std::unordered_set<CUgraphNode>& waiting);
/// Makes them full again. False if there were none.
bool make_full(CUgraph graph);
/// How many edges are of that kind.
size_t dependent_edges(CUgraph graph);

}  // namespace hotaru::cuda
