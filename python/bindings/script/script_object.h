// TorchScript modules and class instances as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/core/value.h"

namespace hotaru::python {

/// False when the object is no script module or class instance.
bool script_to_value(PyObject* object, Value* out);
/// False when the object is no member of an Enum class; TypeError for members
/// of classes that programs cannot have.
bool enum_to_value(PyObject* object, Value* out);
/// The Python member of an Enum class.
nanobind::object enum_to_python(const Value& value);
/// A value of Tag::kInstance; a new reference.
PyObject* script_to_python(const Value& value);

/// Archives, modules and files of torch.save.
void init_script(nanobind::module_& m);

}  // namespace hotaru::python
