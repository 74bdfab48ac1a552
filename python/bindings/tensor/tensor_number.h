// Python's operators on tensors: + - * / // % ** @ & | ^ ~ and comparisons.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

namespace hotaru::python {

/// Appends the slots of the number protocol and of comparison.
void add_number_slots(std::vector<PyType_Slot>& slots);

}  // namespace hotaru::python
