// Formats without SiLU write it as two calls.
#pragma once

#include "hotaru/graph/capture/region.h"

namespace hotaru::graph {

/// x * sigmoid(x) becomes the one call that computes it, to the bit.
void find_silu(Region& region);

}  // namespace hotaru::graph
