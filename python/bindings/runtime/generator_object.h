// hotaru.Generator.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/core/value.h"

namespace hotaru::python {

/// False when the object is no Generator.
bool to_generator(PyObject* object, Value* out);
/// A value of Tag::kObject; a new reference.
PyObject* generator_to_python(const Value& value);

void init_random(nanobind::module_& m);

}  // namespace hotaru::python
