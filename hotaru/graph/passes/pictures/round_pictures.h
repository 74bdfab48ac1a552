// The pass that lets convolutions on blocked pictures multiply bfloat16.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Convolutions that may round (ConvAttributes::bf16) read pictures and weights
/// of bfloat16, where the processor has instructions for their products. What
/// nobody but such convolutions reads, as picture or residual, is kept in
/// bfloat16; other pictures are rounded once for all who want them so. Sums,
/// biases and endings stay in float32.
void round_pictures(Region& region);

}  // namespace hotaru::graph
