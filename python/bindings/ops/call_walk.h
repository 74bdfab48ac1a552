// A walk over the arguments of a call, those in lists too.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/ops/op_bind.h"
#include "bindings/stable_abi.h"

namespace hotaru::python {

inline bool is_sequence(PyObject* object) {
  return PyTuple_CheckExact(object) || PyList_CheckExact(object);
}

/// Calls f(object) for arguments and items of lists until it says true.
template <class F>
bool any_argument(const Call& call, const F& f) {
  const size_t n = call.positional + call.keyword_count();
  for (size_t i = 0; i < n; ++i) {
    PyObject* object = call.args[i];
    if (is_sequence(object)) {
      const Py_ssize_t size = sequence_size(object);
      for (Py_ssize_t k = 0; k < size; ++k)
        if (f(sequence_item(object, k))) return true;
    } else if (f(object)) {
      return true;
    }
  }
  return false;
}

}  // namespace hotaru::python
