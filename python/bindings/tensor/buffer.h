// Memory shared by Python's buffer protocol (PEP 3118), both ways: with numpy,
// ctypes, array, mmap and whatever else lends its memory.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/core/tensor.h"

namespace hotaru::python {

/// True if an object has numpy's protocols and is no tensor: an array, or one
/// of numpy's numbers.
bool is_array(PyObject* object);
/// A tensor over the array's memory. TypeError for elements that tensors do
/// not have.
Tensor tensor_over_array(PyObject* array);

/// The tensor's buffer; a numpy array over it shares memory. BufferError where
/// the consumer asks for elements in a row and they are not.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

/// Adds from_numpy and frombuffer.
void init_buffer(nanobind::module_& m);

}  // namespace hotaru::python
