// The pass that lays values out row by row where most who touch them are so.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Results of elementwise calls lie like their first operand, transposed ones,
/// too, and so on from call to call. Values that nothing but such calls and
/// copies touch, all in the same way, are laid out row by row where that suits
/// more of the tensors which they meet; copies that then change nothing are
/// left out. Exact.
void straighten(Region& region);

}  // namespace hotaru::graph
