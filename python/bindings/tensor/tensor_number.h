// Python's operators on tensors: + - * / // % ** @ & | ^ ~ and comparisons.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "hotaru/core/tensor.h"

namespace hotaru::python {

/// Before a tensor with a history becomes a number without one: PyTorch's
/// warning, once.
void warn_of_lost_history(const Tensor& t);

/// Appends the slots of the number protocol and of comparison.
void add_number_slots(std::vector<PyType_Slot>& slots);

void init_numbers(nanobind::module_& m);

}  // namespace hotaru::python
