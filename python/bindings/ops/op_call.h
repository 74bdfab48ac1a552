// Operators as Python callables. One parser, driven by the schemas of the
// registry, serves every function and method.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace hotaru::python {

/// A callable for all overloads of an operator; a new reference, or null with
/// a Python error. A method takes the tensor itself first.
PyObject* make_op(std::string_view name, bool method);

/// Defines the callables of the registry: functions on module `ops`, methods
/// on the tensor type.
void init_ops(nanobind::module_& m);

/// This thread's state of autocast.
void init_autocast(nanobind::module_& m);

/// Returns what jit.trace makes of a call whose arguments fit nothing; null if
/// the call is none of its business.
nanobind::object ask_trace(nanobind::handle callee, const nanobind::tuple& args,
                           const nanobind::dict& keywords);

}  // namespace hotaru::python
