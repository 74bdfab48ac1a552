// hotaru's Python module, as extensions reach it.
#pragma once

#include <Python.h>

#include "ATen/ATen.h"
#include "hotaru/exchange/python_api.h"

namespace torch::detail {

/// Imports hotaru at the first call. Needs the interpreter's lock; throws
/// c10::Error where hotaru is missing or another version.
inline const hotaru::exchange::PythonApi& python_api() {
  using hotaru::exchange::PythonApi;
  static const PythonApi* api = [] {
    if (PyObject* module = PyImport_ImportModule("hotaru._C"))
      Py_DECREF(module);
    else
      PyErr_Clear();
    const auto* found =
        static_cast<const PythonApi*>(PyCapsule_Import(PythonApi::kCapsule, 0));
    if (!found) PyErr_Clear();
    TORCH_CHECK(found,
                "this extension needs the Python package hotaru, which "
                "cannot be imported here");
    TORCH_CHECK(found->version == PythonApi::kVersion,
                "this extension was built for another version of hotaru: "
                "build it again");
    return found;
  }();
  return *api;
}

}  // namespace torch::detail
