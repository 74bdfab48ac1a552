// Recurrent layers read their weights as they need them.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Weights of recurrent layers that last are brought into the order in which
/// products read them, once, and again when they changed.
void pack_recurrent(Region& region);

}  // namespace hotaru::graph
