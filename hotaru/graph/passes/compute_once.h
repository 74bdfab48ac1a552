// Computing once what replays would compute alike each time.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Calls that make small values of no tensor (ranges, zeros, masks, numbers),
/// and calls that put lasting weights of products, convolutions and recurrent
/// layers into another order or dtype, as autocast does, run before the first
/// replay; the latter again when a weight has changed.
void compute_once(Region& region);

}  // namespace hotaru::graph
