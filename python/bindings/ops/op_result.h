// What an operator gives back to Python.
#pragma once

#include <Python.h>

#include <optional>

#include "hotaru/ops/registry.h"
#include "hotaru/runtime/result_place.h"

namespace hotaru::python {

inline constexpr size_t kMaxResults = 8;

/// A tensor, a tuple, or a named tuple where the schema names its results. A
/// new reference.
PyObject* convert_results(const Operator& op, Value* results);
/// How the operator may write its result straight into `out`, as far as its
/// arguments tell: nothing if one of them has a history or lies in a part of
/// its memory.
std::optional<ResultPlace::For> result_place(const Operator& op,
                                             const Value* arguments, size_t n,
                                             PyObject* out);

/// NotImplementedError where `out` or an argument is a dual number.
void check_without_tangents(const Operator& op, const Value* arguments,
                            size_t n, PyObject* out);

/// out=: writes the results into the caller's tensors. Returns `out`, a named
/// tuple of them where the schema names its results, or None for a list; a new
/// reference.
PyObject* write_results(const Operator& op, Value* results, PyObject* out);

}  // namespace hotaru::python
