// Convolutions take along what follows them.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// A batch norm in evaluation, a sum with another tensor and a rectifier, as
/// many of them as follow a convolution in this order and alone use its result,
/// become part of it: done to each tile while it is in the cache. A norm is
/// then rounded once less.
void fuse_conv(Region& region);

}  // namespace hotaru::graph
