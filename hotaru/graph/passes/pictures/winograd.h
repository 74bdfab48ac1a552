// The pass that saves multiplications of convolutions.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Makes "blocked_conv" calls of 3 x 3 and stride 1 into "winograd_conv" ones
/// where that pays, and their weights' calls of Region::once with them. Not
/// exact: other sums, a few roundings more.
void winograd(Region& region);

}  // namespace hotaru::graph
