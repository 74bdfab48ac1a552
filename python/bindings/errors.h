// Exceptions of the library as Python's.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "hotaru/core/error.h"

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

/// Throws the error again; if it is a capture's refusal
/// (graph/capture/capture.h), with the name of what was refused.
[[noreturn]] void throw_named(const Error& e, std::string_view name);

/// Runs f, which may look at values on the host.
template <class F>
decltype(auto) named(std::string_view name, F&& f) {
  try {
    return f();
  } catch (const Error& e) {
    throw_named(e, name);
  }
}

void init_errors(nanobind::module_& m);

}  // namespace hotaru::python
