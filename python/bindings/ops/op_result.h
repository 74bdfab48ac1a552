// Results that an operator gives back to Python.
#pragma once

#include <Python.h>

#include "hotaru/ops/registry.h"

namespace hotaru::python {

inline constexpr size_t kMaxResults = 8;

/// A tensor, a tuple, or a named tuple where the schema names its results. A
/// new reference.
PyObject* convert_results(const Operator& op, Value* results);

/// out=: writes the results into the caller's tensors. Returns `out`, a named
/// tuple of them where the schema names its results, or None for a list; a new
/// reference.
PyObject* write_results(const Operator& op, Value* results, PyObject* out);

}  // namespace hotaru::python
