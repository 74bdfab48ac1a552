// How PyTorch's source names the operators that this library knows.
#pragma once

#include <string>

#include "hotaru/ops/registry.h"

namespace hotaru::script {

/// What stands before "(": "torch.add", "ops.prim.dtype", "int".
std::string op_spelling(const Operator& op);

/// Whether the operator, written with a number in place of a tensor, is
/// another overload with the same result.
bool takes_numbers(const Operator& op);

/// Whether a tensor made of a number must have the first argument's dtype.
bool wants_dtype(const Operator& op);

/// Whether PyTorch takes all arguments but the first by name only, though our
/// schema does not.
bool names_all(const Operator& op);

}  // namespace hotaru::script
