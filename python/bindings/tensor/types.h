// Small types that Python sees: dtype, device, Size, layout and
// memory_format, and their conversions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "hotaru/core/device.h"
#include "hotaru/core/dtype.h"
#include "hotaru/core/shape.h"

namespace hotaru::python {

namespace nb = nanobind;

/// hotaru.dtype: one object an element type.
struct PyDType {
  DType dtype;
};
/// hotaru.layout and hotaru.memory_format: names with a number.
struct PyLayout {
  int64_t number;
  const char* name;
};
/// A layout that operators made for strided memory do not take: its class may
/// answer them (__torch_function__).
struct PySparseLayout : PyLayout {};
struct PyMemoryFormat {
  int64_t number;
  const char* name;
};

/// The object of a dtype; a new reference.
nb::object dtype_object(DType dtype);
nb::object device_object(Device device);
/// The layout of that number.
nb::object layout_object(int64_t number);
/// A torch.Size.
nb::object size_object(IntSpan sizes);

/// True if the object is one, without an error.
bool is_dtype(PyObject* object);
bool is_device(PyObject* object);
/// True if to_device() takes it: a device, a name, an accelerator's index.
bool names_device(PyObject* object);
/// A dtype object, or Python's float, int, bool, complex. TypeError otherwise.
DType to_dtype(PyObject* object);
/// A device object, text or bytes, or an index of the accelerator.
Device to_device(PyObject* object);
/// A sequence of integers.
Dims to_dims(PyObject* object);

void init_types(nb::module_& m);

/// A function of types among those of quantised tensors.
nb::object quantized_rule(const char* name);

}  // namespace hotaru::python
