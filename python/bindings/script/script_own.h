// Objects of classes that programs define in C++ (torch::class_).
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "hotaru/core/value.h"

namespace hotaru::python {

/// A method bound to the object, or what a property gives. AttributeError for
/// a name that the class has not.
nanobind::object own_attribute(const Value& object, const std::string& name);
void set_own_attribute(const Value& object, const std::string& name,
                       nanobind::handle value);

void init_own_classes(nanobind::module_& m);

/// Has programs call Python's operators on tensors that Python keeps.
void init_script_operators(nanobind::module_& m);

}  // namespace hotaru::python
