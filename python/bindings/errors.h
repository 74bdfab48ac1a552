// Exceptions of the library as Python's.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

/// Sets the Python error that stands for the exception being handled; for
/// code that CPython calls directly. Call it in a catch block.
void set_python_error();

/// Runs f; a C++ exception becomes a Python error and `failed`.
template <class F, class R>
R guarded(F&& f, R failed) {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return failed;
  }
}
template <class F>
PyObject* guarded(F&& f) {
  return guarded(std::forward<F>(f), static_cast<PyObject*>(nullptr));
}

void init_errors(nanobind::module_& m);

}  // namespace hotaru::python
