// Tensors from Python data, and exchange of memory with numpy and DLPack.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "hotaru/core/tensor.h"

namespace hotaru::python {

/// torch.tensor(data): copies numbers, nested sequences, numpy arrays and
/// tensors. The dtype is inferred from the data unless given.
Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype,
                        std::optional<Device> device);
/// Whether an object has numpy's protocols and is no tensor: an array, or one
/// of numpy's numbers.
bool is_array(PyObject* object);
/// A tensor over the array's memory.
Tensor tensor_over_array(PyObject* array);
/// Nested lists of Python numbers, or one number.
PyObject* to_list(const Tensor& self);
/// A Python number from the single element.
PyObject* item_of(const Tensor& self);

/// The tensor's buffer for Python's protocol (PEP 3118); a numpy array over
/// it shares memory.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

void init_creation(nanobind::module_& m);
void init_dlpack(nanobind::module_& m);

}  // namespace hotaru::python
