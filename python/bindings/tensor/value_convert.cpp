#include "bindings/tensor/value_convert.h"

#include <cstring>

#include "bindings/runtime/future_object.h"
#include "bindings/runtime/generator_object.h"
#include "bindings/script/script_await.h"
#include "bindings/script/script_object.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/items.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"

namespace hotaru::python {
namespace {

/// Sizes that jit.trace follows: its hook is to see them, so they fit nothing.
PyTypeObject* traced_size = nullptr;

/// A tensor of one number that no gradient flows through stands for it.
bool is_number_tensor(PyObject* object) {
  return is_tensor(object) && tensor_of(object).dim() == 0 &&
         !autograd::requires_grad(tensor_of(object));
}

/// An index for Python's own protocol: integers only.
bool to_index(PyObject* object, int64_t* out) {
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    *out = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
  }
  if (PyBool_Check(object) || PyFloat_Check(object)) return false;
  if (is_tensor(object)) {
    // Bools count only where they are written as a number.
    const Tensor& t = tensor_of(object);
    if (t.numel() != 1 || !is_integral(t.dtype(), t.dim() == 0)) return false;
    *out = item(t).to_int();
    return true;
  }
  if (!PyIndex_Check(object)) return false;
  if (is_traced_size(object)) return false;
  PyObject* index = PyNumber_Index(object);
  if (!index) {
    PyErr_Clear();
    return false;
  }
  *out = PyLong_AsLongLong(index);
  Py_DECREF(index);
  if (*out != -1 || !PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}

bool to_float(PyObject* object, double* out) {
  if (PyFloat_Check(object)) {
    *out = float_value(object);
    return true;
  }
  if (!is_number(object) && !is_number_tensor(object)) return false;
  const Scalar value =
      is_tensor(object) ? number_in(tensor_of(object)) : to_scalar(object);
  if (value.is_complex()) return false;
  *out = value.to_double();
  return true;
}

bool is_sequence(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object);
}

bool to_list(PyObject* object, const ArgType& type, Value* out) {
  ArgType element = type;
  element.list = false;
  element.optional = type.optional_elements;
  if (!is_sequence(object)) {
    // A single value for int[n]; a one-dimensional tensor never.
    Value single;
    if (type.list_size == 0 || !to_value(object, element, &single))
      return false;
    *out = Value::list(
        std::vector<Value>(size_t(type.list_size), std::move(single)));
    return true;
  }
  std::vector<Value> items(size_t(sequence_size(object)));
  const bool fits = for_items(object, [&](PyObject* item, Py_ssize_t i) {
    return to_element(item, size_t(i), element, &items[size_t(i)]);
  });
  if (fits) *out = Value::list(std::move(items));
  return fits;
}

/// True if a tensor of one element that has dimensions may be that integer, as
/// in PyTorch: sizes and counts, and what stands in a list, but no dimension.
bool takes_vector(PyObject* object, const ArgType& type) {
  return !is_tensor(object) || tensor_of(object).dim() == 0 ||
         type.text.starts_with("SymInt") ||
         type.text.find('[') != std::string::npos;
}

bool to_single(PyObject* object, const ArgType& type, Value* out) {
  switch (type.kind) {
    case ArgKind::kTensor:
      if (!is_tensor(object)) return false;
      *out = tensor_of(object);
      return true;
    case ArgKind::kInt: {
      int64_t value = 0;
      if (!takes_vector(object, type) || !to_index(object, &value))
        return false;
      *out = value;
      return true;
    }
    case ArgKind::kFloat: {
      double value = 0;
      if (!to_float(object, &value)) return false;
      *out = value;
      return true;
    }
    case ArgKind::kBool:
      if (!PyBool_Check(object)) {
        if (std::strcmp(class_name(object), "numpy.bool_") != 0 &&
            std::strcmp(class_name(object), "numpy.bool") != 0)
          return false;
      }
      *out = PyObject_IsTrue(object) == 1;
      return true;
    case ArgKind::kScalar:
      if (is_number(object))
        *out = to_scalar(object);
      else if (is_number_tensor(object))
        *out = number_in(tensor_of(object));
      else
        return false;
      return true;
    case ArgKind::kComplex:
      if (!is_number(object)) return false;
      *out = to_scalar(object).to_complex();
      return true;
    case ArgKind::kString:
      if (!PyUnicode_Check(object)) return false;
      *out = nb::cast<std::string>(nb::handle(object));
      return true;
    case ArgKind::kDType:
      if (!is_dtype(object) && !PyType_Check(object)) return false;
      *out = to_dtype(object);
      return true;
    case ArgKind::kDevice:
      if (!names_device(object)) return false;
      *out = to_device(object);
      return true;
    case ArgKind::kLayout:
      // Sparse ones answer calls that fit no signature themselves.
      if (!nb::isinstance<PyLayout>(object) ||
          nb::isinstance<PySparseLayout>(object))
        return false;
      *out = nb::inst_ptr<PyLayout>(object)->number;
      return true;
    case ArgKind::kMemoryFormat:
      if (!nb::isinstance<PyMemoryFormat>(object)) return false;
      *out = nb::inst_ptr<PyMemoryFormat>(object)->number;
      return true;
    case ArgKind::kGenerator:
      return to_generator(object, out);
    case ArgKind::kOther:
      *out = to_value(object);
      return true;
  }
  return false;
}

Value to_dict(PyObject* object) {
  const Level level("a dict as an argument");
  auto dict = make_ref<DictObject>();
  // A copy: what converts an entry may change the dict.
  const nb::object pairs = nb::steal(PyDict_Items(object));
  if (!pairs.is_valid()) throw nb::python_error();
  for_items(pairs.ptr(), [&](PyObject* pair, Py_ssize_t) {
    dict->set(to_value(tuple_item(pair, 0)), to_value(tuple_item(pair, 1)));
    return true;
  });
  return dict;
}

std::vector<Value> to_items(PyObject* object) {
  const Level level(PyList_Check(object) ? "a list as an argument"
                                         : "a tuple as an argument");
  std::vector<Value> items;
  for_items(object, [&](PyObject* item, Py_ssize_t) {
    items.push_back(to_value(item));
    return true;
  });
  return items;
}

nb::object to_object(const Value& value) {
  nb::object out = nb::steal(to_python(value));
  if (!out.is_valid()) throw nb::python_error();
  return out;
}

template <class Fill>
PyObject* sequence(PyObject* made, const std::vector<Value>& items, Fill set) {
  nb::object out = nb::steal(made);
  if (!out.is_valid()) throw nb::python_error();
  const Level level("a result");
  for (size_t i = 0; i < items.size(); ++i)
    set(made, Py_ssize_t(i), to_object(items[i]).release().ptr());
  return out.release().ptr();
}

}  // namespace

void set_traced_size(PyObject* type) {
  traced_size = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
}

bool is_traced_size(PyObject* object) {
  return Py_TYPE(object) == traced_size;
}

int64_t to_int(PyObject* object) {
  int64_t value = 0;
  if (!to_index(object, &value))
    fail<TypeError>("'", class_name(object),
                    "' object cannot be interpreted as an integer");
  return value;
}

bool is_numpy_scalar(PyObject* object) {
  const char* name = class_name(object);
  return std::strncmp(name, "numpy.", 6) == 0 &&
         std::strcmp(name, "numpy.ndarray") != 0 &&
         std::strcmp(name, "numpy.str_") != 0;
}

bool is_numpy_number(PyObject* object) {
  if (!is_numpy_scalar(object)) return false;
  const char* name = class_name(object) + 6;
  for (const char* other : {"bytes_", "datetime64", "timedelta64", "void"})
    if (std::strcmp(name, other) == 0) return false;
  return true;
}

bool is_number(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) ||
         PyComplex_Check(object) || is_numpy_number(object);
}

bool is_beyond_int64(PyObject* object) {
  if (!PyLong_Check(object)) return false;
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow != 0;
}

uint64_t to_unsigned(PyObject* object) {
  const uint64_t value = PyLong_AsUnsignedLongLong(object);
  if (!PyErr_Occurred()) return value;
  PyErr_SetString(PyExc_OverflowError, "int too big to convert");
  throw nb::python_error();
}

Scalar to_scalar(PyObject* object, DType dtype) {
  if (dtype == DType::kUInt64 && is_beyond_int64(object))
    return int64_t(to_unsigned(object));
  return to_scalar(object);
}

Tensor number_tensor(PyObject* object) {
  if (!is_beyond_int64(object)) return wrapped_scalar(to_scalar(object));
  Tensor out = to(scalar_tensor(to_scalar(object, DType::kUInt64),
                                {DType::kInt64, Device{}}),
                  DType::kUInt64);
  out.impl()->wrapped_number = true;
  return out;
}

Scalar number_in(const Tensor& tensor) {
  return as_number(tensor.dtype(), item(tensor));
}

Scalar to_scalar(PyObject* object) {
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow ? Scalar(double(to_unsigned(object))) : int64_t(value);
  }
  if (PyFloat_Check(object)) return float_value(object);
  if (PyComplex_Check(object)) {
    return std::complex<double>(PyComplex_RealAsDouble(object),
                                PyComplex_ImagAsDouble(object));
  }
  // A numpy scalar knows its Python counterpart; long doubles say themselves.
  nb::object plain = nb::handle(object).attr("item")();
  if (is_numpy_scalar(plain.ptr())) {
    const auto complex = nb::getattr(plain, "__complex__", nb::handle());
    plain = complex.is_valid() ? complex() : nb::steal(PyNumber_Float(object));
  }
  HOTARU_CHECK_AS(TypeError,
                  !is_numpy_scalar(plain.ptr()) && is_number(plain.ptr()),
                  "can't convert ", class_name(object), " to a number");
  return to_scalar(plain.ptr());
}

bool to_value(PyObject* object, const ArgType& type, Value* out) {
  if (object == Py_None) {
    *out = Value();
    return type.optional || (type.kind == ArgKind::kOther && !type.list) ||
           (type.kind == ArgKind::kTensor && type.optional_elements);
  }
  return type.list ? to_list(object, type, out) : to_single(object, type, out);
}

bool to_element(PyObject* object, size_t place, const ArgType& type,
                Value* out) {
  if (to_value(object, type, out)) return true;
  if (place == 0 || type.kind != ArgKind::kInt || !PyBool_Check(object))
    return false;
  *out = int64_t{object == Py_True};
  return true;
}

Value to_value(PyObject* object) {
  if (object == Py_None) return {};
  if (is_tensor(object)) return tensor_of(object);
  Value out;
  // Before numbers and strings: members may be both.
  if (enum_to_value(object, &out)) return out;
  if (is_number(object)) return to_scalar(object);
  if (PyUnicode_Check(object)) return nb::cast<std::string>(nb::handle(object));
  if (PyTuple_Check(object)) return Value::tuple(to_items(object));
  if (PyList_Check(object)) return Value::list(to_items(object));
  if (PyDict_Check(object)) return to_dict(object);
  if (is_dtype(object)) return to_dtype(object);
  if (is_device(object)) return to_device(object);
  if (to_generator(object, &out) || future_to_value(object, &out) ||
      script_to_value(object, &out) || await_to_value(object, &out))
    return out;
  fail<TypeError>("objects of type '", class_name(object),
                  "' have no counterpart in hotaru");
}

PyObject* to_python(const Value& value) {
  switch (value.tag()) {
    case Value::Tag::kNone:
      Py_RETURN_NONE;
    case Value::Tag::kTensor:
      return wrap(value.tensor_ref());
    case Value::Tag::kInt:
      return PyLong_FromLongLong(value.as_int());
    case Value::Tag::kDouble:
      return PyFloat_FromDouble(value.as_double());
    case Value::Tag::kBool:
      return PyBool_FromLong(value.as_bool());
    case Value::Tag::kComplex: {
      const auto c = value.as_complex();
      return PyComplex_FromDoubles(c.real(), c.imag());
    }
    case Value::Tag::kString: {
      const std::string& s = value.as_string();
      return PyUnicode_FromStringAndSize(s.data(), Py_ssize_t(s.size()));
    }
    case Value::Tag::kDevice:
      return device_object(value.as_device()).release().ptr();
    case Value::Tag::kList: {
      const auto& items = value.as_list().items;
      return sequence(PyList_New(Py_ssize_t(items.size())), items,
                      [](PyObject* l, Py_ssize_t i, PyObject* o) {
                        put_list_item(l, i, o);
                      });
    }
    case Value::Tag::kTuple: {
      const auto& items = value.as_tuple().items;
      return sequence(PyTuple_New(Py_ssize_t(items.size())), items,
                      [](PyObject* t, Py_ssize_t i, PyObject* o) {
                        put_tuple_item(t, i, o);
                      });
    }
    case Value::Tag::kDict: {
      const Level level("a result");
      nb::dict out;
      for (const auto& [key, item] : value.as_dict().items)
        out[to_object(key)] = to_object(item);
      return out.release().ptr();
    }
    case Value::Tag::kInstance:
      return script_to_python(value);
    case Value::Tag::kObject:
      if (PyObject* future = future_to_python(value)) return future;
      if (PyObject* awaited = await_to_python(value)) return awaited;
      return generator_to_python(value);
  }
  Py_RETURN_NONE;
}

}  // namespace hotaru::python
