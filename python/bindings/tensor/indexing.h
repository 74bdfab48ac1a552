// x[...] and x[...] = y.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/core/tensor.h"

namespace hotaru::python {

/// Basic indices give a view, tensors and sequences a copy, as in PyTorch.
Tensor get_item(const Tensor& self, PyObject* index);
/// `value` is a tensor or a number; it is broadcast and cast.
void set_item(const Tensor& self, PyObject* index, PyObject* value);

}  // namespace hotaru::python
