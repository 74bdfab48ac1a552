// How PyTorch's source names the operators that this library knows.
#pragma once

#include <optional>
#include <string>

#include "hotaru/core/dtype.h"
#include "hotaru/ops/registry.h"

namespace hotaru::script {

/// Text that stands before "(": "torch.add", "ops.prim.dtype", "int".
std::string op_spelling(const Operator& op);

/// True if the operator is in PyTorch's namespace prim, rather than aten.
bool is_prim(const Operator& op);

/// For a method such as float(): the dtype that it converts to.
std::optional<DType> cast_target(const Operator& op);

/// True if the operator, written with a number in place of the tensor at that
/// position, is another overload with the same result.
bool takes_number(const Operator& op, size_t position);

/// True if a tensor made of a number must have the first argument's dtype.
bool wants_dtype(const Operator& op);

/// True if PyTorch takes all arguments but the first by name only, though our
/// schema does not.
bool names_all(const Operator& op);

}  // namespace hotaru::script
