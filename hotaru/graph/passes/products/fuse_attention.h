// The pass that makes attention of products and a softmax.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// A product, a mask that is added to it, a softmax along its rows and the
/// product of that with values become one call, whose scores are never in
/// memory as a whole. float32; where nobody else wants what lies in between.
/// Values are those of the calls that it replaces but for the order of sums.
void fuse_attention(Region& region);

}  // namespace hotaru::graph
