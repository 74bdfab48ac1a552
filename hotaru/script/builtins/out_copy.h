// `out=` in programs: a result's copy into a tensor of the caller's.
#pragma once

#include <string_view>

#include "hotaru/ops/registry.h"

namespace hotaru::script {

/// `copy_` that writes what an operator computed as its `out=` does: in
/// PyTorch's words it refuses a dtype that the result cannot be cast to and
/// tensors with a history. One an operator, kept as long as the process.
const Operator& out_copy(const Operator& op);

/// True if results of that name are made in the dtype of `out`: those of sizes
/// and numbers alone, and sums.
bool follows_out(std::string_view name);

}  // namespace hotaru::script
