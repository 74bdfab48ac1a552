// Weights of 8-bit integers are brought into the order of their use once.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Weights, with zero points, that last: those of products of more than a few
/// rows as panels, those of convolutions as pairs; and again when they changed.
/// Results stay the same.
void pack_int8(Region& region);

}  // namespace hotaru::graph
