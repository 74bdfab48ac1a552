// hotaru.futures.Future.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/core/value.h"

namespace hotaru::python {

/// False when the object is no Future. Results that Python set are converted
/// for the library when they are there.
bool future_to_value(PyObject* object, Value* out);
/// A new reference, or null, without a Python error, if the value is neither a
/// future nor a Python object that a future carries.
PyObject* future_to_python(const Value& value);

void init_futures(nanobind::module_& m);

}  // namespace hotaru::python
