// Messages about a call that fits no overload, in PyTorch's words.
#pragma once

#include <vector>

#include "bindings/ops/op_bind.h"

namespace hotaru::python {

/// Throws TypeError: for a single signature which argument is wrong, else
/// what was given and all signatures.
[[noreturn]] void no_match(const std::vector<Signature>& signatures,
                           const Call& call, bool method,
                           const std::string& name);

}  // namespace hotaru::python
