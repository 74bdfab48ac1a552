// hotaru.futures.Future.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <functional>

#include "hotaru/core/value.h"

namespace hotaru::python {

/// False when the object is no Future. Results that Python set are converted
/// for the library when they are there.
bool future_to_value(PyObject* object, Value* out);
/// A new reference, or null, without a Python error, if the value is neither a
/// future nor a Python object that a future carries.
PyObject* future_to_python(const Value& value);

/// A Future that gets `result`, or an error, when end() is called, from any
/// thread, with or without the interpreter's lock.
struct PendingFuture {
  nanobind::object future;
  std::function<void(std::exception_ptr)> end;
};
PendingFuture pending_future(nanobind::object result);

void init_futures(nanobind::module_& m);

}  // namespace hotaru::python
