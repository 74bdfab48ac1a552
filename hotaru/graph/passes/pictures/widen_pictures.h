// The pass that gives convolutions of 16 bits the ways of those of float32.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Convolutions of bfloat16 or float16 whose weights last, and norms, pooling
/// and elementwise calls behind them, compute with float32, which holds every
/// number of theirs, so that the passes behind this one lay pictures out in
/// blocks. bfloat16 may be rounded again: round_pictures keeps pictures in it.
/// What others read is rounded once; in between less is than by the calls
/// themselves.
void widen_pictures(Region& region);

}  // namespace hotaru::graph
