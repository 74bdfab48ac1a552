// Await[T] of compiled code as Python's _Await, and the other way round.
#pragma once

#include <Python.h>

#include "hotaru/core/value.h"

namespace hotaru::python {

/// False for other objects than an _Await.
bool await_to_value(PyObject* object, Value* out);
/// A new reference; null for other values than an Await.
PyObject* await_to_python(const Value& value);

}  // namespace hotaru::python
