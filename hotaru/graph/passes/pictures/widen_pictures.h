// The pass that gives convolutions of bfloat16 the ways of those of float32.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Convolutions of bfloat16 whose weights last, and norms, pooling and
/// elementwise calls behind them, compute with float32, which holds every
/// number of theirs, and may round it again: so the passes behind this one lay
/// pictures out in blocks, and round_pictures keeps them in bfloat16. What
/// others read is rounded once; in between less is than by the calls
/// themselves.
void widen_pictures(Region& region);

}  // namespace hotaru::graph
