// Python objects to values of the library and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "hotaru/core/value.h"
#include "hotaru/ops/schema.h"

namespace hotaru::python {

namespace nb = nanobind;

/// A Python int, or an object with __index__ (numpy's integers, tensors of
/// one integer).
int64_t to_int(PyObject* object);
/// True if it is one of numpy's scalars, of any kind but text.
bool is_numpy_scalar(PyObject* object);
/// True if it is one that tensors can have as an element.
bool is_numpy_number(PyObject* object);
/// int, float, bool, complex or a numpy number; an int beyond int64 as a float.
Scalar to_scalar(PyObject* object);
/// The number that a tensor of one element holds; a double beyond int64, as it
/// is of an int of Python's.
Scalar number_in(const Tensor& tensor);
/// The same for elements of a dtype: of an int beyond int64 uint64 has the
/// bits.
Scalar to_scalar(PyObject* object, DType dtype);
/// True if it is an int that only uint64 can hold, or no dtype.
bool is_beyond_int64(PyObject* object);
/// Such an int; OverflowError if uint64 can't hold it.
uint64_t to_unsigned(PyObject* object);
/// A number as an operand beside tensors, to whose dtype it yields.
Tensor number_tensor(PyObject* object);
/// True if to_scalar takes it. Tensors are not numbers here.
bool is_number(PyObject* object);

/// Converts an argument to what a schema type asks for. False, without a
/// Python error, when the object is of another kind.
bool to_value(PyObject* object, const ArgType& type, Value* out);
/// The same for an element of a list: of integers all but the first may be
/// bools, as in PyTorch.
bool to_element(PyObject* object, size_t place, const ArgType& type,
                Value* out);
/// Converts by the object's own type; for values that no schema describes
/// (arguments of script functions). TypeError if there is no counterpart.
Value to_value(PyObject* object);

/// A new reference.
PyObject* to_python(const Value& value);

/// Instances of this type, sizes that a trace follows, stand for no integer.
void set_traced_size(PyObject* type);
bool is_traced_size(PyObject* object);

}  // namespace hotaru::python
