// Tensors from Python data, Python data from tensors, and DLPack.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "hotaru/core/tensor.h"

namespace hotaru::python {

/// torch.tensor(data): copies numbers, nested sequences, numpy arrays and
/// tensors. The dtype is inferred from the data unless given.
Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype,
                        std::optional<Device> device);
/// Nested lists of Python numbers, or one number.
PyObject* to_list(const Tensor& self);
/// A Python number from the single element.
PyObject* item_of(const Tensor& self);

void init_creation(nanobind::module_& m);
void init_dlpack(nanobind::module_& m);

}  // namespace hotaru::python
