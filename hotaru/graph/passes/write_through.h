// Values that are copied somewhere at last are computed there.
#pragma once

#include "hotaru/graph/capture/region.h"

namespace hotaru::graph {

/// Leaves out copies of values that nobody else reads: who writes the value
/// writes to where the copy would. So gradients reach their leaves.
void write_through(Region& region);

}  // namespace hotaru::graph
