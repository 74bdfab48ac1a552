// Calls in an order of arguments that PyTorch has given up.
#pragma once

#include <string>

#include "bindings/ops/op_bind.h"

namespace hotaru::python {

/// Warns and makes the call in today's order: add(x, alpha, y),
/// addcmul(x, value, y, z), addmm(beta, x, alpha, y, z) and their like, as
/// functions and methods. Null without an error
/// if it is no such call.
PyObject* call_deprecated(PyObject* op, const Call& call, bool method,
                          const std::string& name);

}  // namespace hotaru::python
