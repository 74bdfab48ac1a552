// Gradients that do not depend on an input, but are named after it.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// `result`, computed of x by a function that is flat in x wherever it has a
/// derivative (the gradient of relu, say), with an edge to x over which zeros
/// flow, by a node called `node`. PyTorch's graphs have such edges: second
/// derivatives of piecewise linear functions exist, and are zeros rather than
/// none. Gives `result` itself where x needs no gradient.
Tensor flat_in(const char* node, const Tensor& result, const Tensor& x);

}  // namespace hotaru
