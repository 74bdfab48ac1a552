// Linear maps whose weights are kept in 16 bits.
#pragma once

#include <string>
#include <vector>

#include "hotaru/script/passes/constant_products.h"
#include "hotaru/script/program/module.h"

namespace hotaru::script {

/// A module as freeze() makes it, in which constant float32 weights of linear
/// maps (constant_product) are bfloat16, rounded to nearest, ties to even, and
/// widened before use: products compute in float32 as before, their weights
/// have 8 bits. Of operators of PyTorch, which reads its archive, too; here
/// they are widened once (widen_constants). `counts`, if given, gets what was
/// done. Throws what freeze() throws.
Module round_weights(const Module& module,
                     const std::vector<std::string>& preserved = {},
                     ProductCounts* counts = nullptr);

/// The same on one graph.
void round_weights(Graph& graph, ProductCounts* counts);

}  // namespace hotaru::script
