#include "bindings/tensor/creation.h"

#include <cmath>
#include <vector>

#include "bindings/errors.h"
#include "bindings/ops/op_call.h"
#include "bindings/runtime/accelerator.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/buffer.h"
#include "bindings/tensor/checks.h"
#include "bindings/tensor/default_device.h"
#include "bindings/tensor/items.h"
#include "bindings/tensor/storage_object.h"
#include "bindings/tensor/tensor_number.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/core/rare.h"
#include "hotaru/core/sparse/opaque.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

/// Types that Python's numbers are read from and written to directly.
using HostTypes = TypeList<float, double, Half, BFloat16, uint8_t, int8_t,
                           int16_t, int32_t, int64_t, Bool, std::complex<float>,
                           std::complex<double>, uint16_t, uint32_t, uint64_t>;

// Nesting beyond this is data that contains itself.
constexpr int kMaxDepth = 64;

bool is_list(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o);
}

/// A sequence that is neither list nor tuple nor text: a range, a deque.
bool is_other_sequence(PyObject* o) {
  return PySequence_Check(o) && !is_list(o) && !is_tensor(o) &&
         !PyUnicode_Check(o) && !PyBytes_Check(o) && !is_array(o);
}

[[noreturn]] void too_deep(PyObject* data) {
  fail<ValueError>("too many dimensions '", class_name(data), "'");
}

nb::object as_tuple(PyObject* sequence) {
  nb::object out = nb::steal(PySequence_Tuple(sequence));
  if (out.is_valid()) return out;
  PyErr_Clear();
  fail<ValueError>("could not determine the shape of object type '",
                   class_name(sequence), "'");
}

constinit OnceWarning slow_list{
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please "
    "consider converting the list to a single numpy.ndarray with numpy.array() "
    "before converting to a tensor."};

/// Contents of a nest of sequences.
struct Nest {
  /// How long sequences are, level by level, by the first of each.
  Dims shape;
  std::optional<DType> dtype;
  /// Set if all is lists, tuples and numbers: no arrays, no other sequences.
  bool plain = true;
  /// Set if somebody else knows the dtype, so that numbers may be whatever
  /// Python makes numbers of.
  bool typed = false;

  void merge(DType d) { dtype = dtype ? promote_types(*dtype, d) : d; }

  void measure(PyObject* data) {
    shape.resize(0);
    nb::object at = nb::borrow(data);
    while (true) {
      plain &= is_list(at.ptr()) ||
               !(is_array(at.ptr()) || is_other_sequence(at.ptr()));
      if (is_other_sequence(at.ptr())) at = as_tuple(at.ptr());
      if (!is_list(at.ptr())) break;
      if (shape.size() == size_t(kMaxDepth)) too_deep(at.ptr());
      shape.push_back(sequence_size(at.ptr()));
      if (shape.back() == 0) return;
      at = nb::borrow(sequence_item(at.ptr(), 0));
    }
    // A text of one letter holds itself.
    if (!shape.empty() && PyUnicode_Check(at.ptr())) too_deep(at.ptr());
  }

  /// Leaves what is nested deeper than the shape says, or has another length (a
  /// list may hold itself), to the error of whoever reads the numbers.
  void infer(PyObject* data, size_t depth = 0) {
    if (is_list(data)) {
      const Py_ssize_t n = sequence_size(data);
      if (depth >= shape.size() || n != shape[depth]) return;
      for_items(data, [&](PyObject* item, Py_ssize_t) {
        HOTARU_CHECK_AS(TypeError, item != data,
                        "new(): self-referential lists are incompatible");
        infer(item, depth + 1);
        return true;
      });
    } else if (is_tensor(data)) {
      merge(tensor_of(data).dtype());
    } else if (is_array(data)) {
      plain = false;
      const Tensor over = tensor_over_array(data);
      if (over.dim() > 0 && over.numel() > 0) slow_list.give();
      merge(over.dtype());
    } else if (is_other_sequence(data)) {
      plain = false;
      infer(as_tuple(data).ptr(), depth);
    } else if (is_number(data)) {
      merge(number_dtype(data));
    } else if (PyUnicode_Check(data) || PyBytes_Check(data)) {
      fail<TypeError>("new(): invalid data type '", class_name(data), "'");
    } else if (!typed || is_traced_size(data)) {
      fail("Could not infer dtype of ", class_name(data));
    }
  }

  static DType number_dtype(PyObject* o) {
    if (PyBool_Check(o)) return DType::kBool;
    if (PyLong_Check(o)) return DType::kInt64;
    return to_scalar(o).dtype();
  }
};

/// A number for an element; a tensor of one element counts as one.
Scalar element(PyObject* o, bool integral) {
  if (is_tensor(o)) {
    const Tensor& t = tensor_of(o);
    const bool fits = !integral || is_integral(t.dtype(), true);
    HOTARU_CHECK_AS(TypeError, !integral || (fits && t.numel() == 1),
                    "only integer tensors of a single element can be "
                    "converted to an index");
    HOTARU_CHECK_AS(ValueError, t.numel() == 1,
                    "only one element tensors can be converted to Python "
                    "scalars");
    return integral ? item(t) : number_in(t);
  }
  if (PyLong_Check(o)) {
    const long long value = to_long_long(o);
    if (!PyBool_Check(o)) return int64_t(value);
  }
  if (is_number(o)) return to_scalar(o);
  // Python makes a number of anything else, or its error.
  if (!integral) {
    const double made = PyFloat_AsDouble(o);
    if (made == -1.0 && PyErr_Occurred()) throw nb::python_error();
    return made;
  }
  const nb::object made = nb::steal(PyNumber_Index(o));
  if (!made.is_valid()) throw nb::python_error();
  return to_scalar(made.ptr());
}

template <class T>
T number_as(PyObject* o, DType dtype) {
  constexpr bool kInteger = std::is_integral_v<T>;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    if (PyFloat_CheckExact(o)) return T(float_value(o));
  if constexpr (std::is_same_v<T, uint64_t>)
    if (PyLong_CheckExact(o)) {
      const unsigned long long whole = PyLong_AsUnsignedLongLong(o);
      if (!PyErr_Occurred()) return whole;
      PyErr_Clear();
    }
  // Integers beyond int64 are numbers all the same where floats hold them.
  if constexpr (!kInteger)
    if (PyLong_CheckExact(o)) {
      const double whole = PyLong_AsDouble(o);
      if (whole == -1.0 && PyErr_Occurred()) throw nb::python_error();
      if (std::abs(whole) >= 0x1p63) return T(whole);
    }
  if constexpr (!kInteger && !kIsBool<T>)
    if (is_tensor(o)) warn_of_lost_history(tensor_of(o));
  const Scalar value = element(o, kInteger);
  if constexpr (kIsBool<T>) return T(value.to_complex() != 0.0);
  if constexpr (kInteger)
    check_converts(holds(dtype, value), dtype_name(dtype));
  if constexpr (!kIsComplex<T> && !kIsBool<T>)
    HOTARU_CHECK_AS(TypeError, !value.is_complex(),
                    "must be real number, not complex");
  return value.to<T>();
}

template <class T>
void fill_nest(PyObject* data, IntSpan shape, DType dtype, T*& out,
               size_t dim = 0) {
  if (dim == shape.size()) {
    if (is_list(data))
      fail<TypeError>("'", class_name(data),
                      "' object cannot be interpreted as an integer");
    *out++ = number_as<T>(data, dtype);
    return;
  }
  if (!is_list(data)) fail<TypeError>("not a sequence");
  const Py_ssize_t n = sequence_size(data);
  HOTARU_CHECK_AS(ValueError, n == shape[dim], "expected sequence of length ",
                  shape[dim], " at dim ", dim, " (got ", n, ")");
  for_items(data, [&](PyObject* item, Py_ssize_t) {
    fill_nest(item, shape, dtype, out, dim + 1);
    return true;
  });
}

/// Gives what lies `depth` levels inside as it is, what holds it as lists.
nb::object as_lists(PyObject* data, size_t depth) {
  if (is_array(data)) {
    nb::object out = nb::steal(to_list(tensor_over_array(data)));
    if (!out.is_valid()) throw nb::python_error();
    return out;
  }
  if (depth == 0 || (!is_list(data) && !is_other_sequence(data)))
    return nb::borrow(data);
  nb::list out;
  for (nb::handle item : as_tuple(data))
    out.append(as_lists(item.ptr(), depth - 1));
  return out;
}

Tensor from_nest(PyObject* data, std::optional<DType> dtype) {
  Nest nest;
  nest.typed = dtype.has_value();
  nest.measure(data);
  nest.infer(data);
  nb::object lists;
  if (!nest.plain) {
    lists = as_lists(data, nest.shape.size());
    data = lists.ptr();
    nest.measure(data);
  }
  const DType result = dtype.value_or(nest.dtype.value_or(default_dtype()));
  if (is_stored_only(result)) {
    Tensor out = empty(nest.shape, result);
    HOTARU_CHECK(out.numel() == 0, "store_scalar: invalid type");
    return out;
  }
  const bool direct = !is_rare(result) || is_wide_unsigned(result);
  const DType filled = direct ? result : carrier(result);
  Tensor out = empty(nest.shape, filled);
  visit_dtype(HostTypes{}, filled, "tensor", [&]<class T>() {
    T* at = host_data<T>(out, "tensor");
    fill_nest<T>(data, nest.shape, filled, at);
  });
  return to(out, result);
}

template <class T>
PyObject* number(T value) {
  if constexpr (kIsComplex<T>)
    return PyComplex_FromDoubles(value.real(), value.imag());
  else if constexpr (kIsBool<T>)
    return PyBool_FromLong(value);
  else if constexpr (std::is_unsigned_v<T>)
    return PyLong_FromUnsignedLongLong(value);
  else if constexpr (std::is_integral_v<T>)
    return PyLong_FromLongLong(value);
  else
    return PyFloat_FromDouble(double(value));
}

/// Null with Python's error where there is no memory.
template <class T>
PyObject* nested_list(const Tensor& t, int64_t dim, const T* data) {
  if (dim == t.dim()) return number(*data);
  const int64_t n = t.size(dim), stride = t.stride(dim);
  PyObject* list = PyList_New(n);
  for (int64_t i = 0; list && i < n; ++i) {
    PyObject* item = nested_list(t, dim + 1, data + i * stride);
    if (item)
      put_list_item(list, i, item);
    else
      Py_CLEAR(list);
  }
  return list;
}

/// An array that other libraries read by DLPack, and numpy does not.
bool lends_by_dlpack(PyObject* data) {
  return !is_list(data) && !is_number(data) && !PyType_Check(data) &&
         nb::hasattr(data, "__dlpack__") && !nb::hasattr(data, "__array__");
}

/// All of a storage as elements of a dtype.
Tensor over_storage(Storage* storage, DType dtype) {
  const auto n = int64_t(storage->nbytes() / itemsize(dtype));
  return make_tensor(Ref<Storage>(storage), dtype, Dims{n}, Dims{1}, 0);
}

/// A tensor that shares the memory of an UntypedStorage, or of a TypedStorage,
/// which knows the dtype; undefined for anything else.
Tensor from_storage(PyObject* data, std::optional<DType> dtype) {
  if (Storage* storage = storage_of(data))
    return over_storage(storage, dtype.value_or(default_dtype()));
  if (PyType_Check(data) || !nb::hasattr(data, "_untyped_storage")) return {};
  const nb::object untyped = nb::handle(data).attr("_untyped_storage");
  const DType own = to_dtype(nb::handle(data).attr("_dtype").ptr());
  const DType wanted = dtype.value_or(own);
  HOTARU_CHECK(own == wanted, "Expected a Storage of type ",
               scalar_type_name(wanted), " or an UntypedStorage, but got ",
               scalar_type_name(own));
  return over_storage(storage_of(untyped.ptr()), own);
}

}  // namespace

Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype,
                        std::optional<Device> device) {
  if (!device) device = default_device();
  Tensor out;
  if (is_tensor(data)) {
    const autograd::NoGrad no_grad;
    return to(tensor_of(data), dtype, device, true);
  }
  if (is_array(data)) {
    const Tensor shared = tensor_over_array(data);
    out = to(shared, dtype, std::nullopt, true);
  } else if (!is_list(data) && !is_number(data) &&
             (out = from_storage(data, dtype)).defined()) {
    return device ? to(out, *device) : out;
  } else if (lends_by_dlpack(data)) {
    const nb::object shared = nb::module_::import_("hotaru._functions")
                                  .attr("from_dlpack")(nb::handle(data));
    out = to(tensor_of(shared.ptr()), dtype, std::nullopt, true);
  } else {
    out = from_nest(data, dtype);
  }
  return device ? to(out, *device) : out;
}

PyObject* to_list(const Tensor& self) {
  Tensor host = to(detach(self), Device{});
  if (is_rare(host.dtype()) && !is_wide_unsigned(host.dtype()))
    host = to(host, carrier(host.dtype()));
  HOTARU_CHECK(!is_stored_only(host.dtype()) || host.numel() == 0,
               "load_scalar: invalid type");
  host = as_numbers(host);
  PyObject* out = nullptr;
  visit_dtype(HostTypes{}, host.dtype(), "tolist", [&]<class T>() {
    const T* data =
        named("tolist", [&] { return host_data<T>(host, "tolist"); });
    out = nested_list<T>(host, 0, data);
  });
  return out;
}

PyObject* item_of(const Tensor& self) {
  // Beyond int64 the library has no number.
  if (self.dtype() == DType::kUInt64 && self.numel() == 1)
    return to_list(view(detach(self), {}));
  return to_python(named("item", [&] { return Value(item(self)); }));
}

namespace {

/// PyTorch's advice to those who copy a tensor by tensor().
void warn_of_copy() {
  constexpr const char* kText =
      "To copy construct from a tensor, it is recommended to use "
      "sourceTensor.detach().clone() or "
      "sourceTensor.detach().clone().requires_grad_(True), rather than "
      "torch.tensor(sourceTensor).";
  if (PyErr_WarnEx(PyExc_UserWarning, kText, 1) != 0) throw nb::python_error();
}

Tensor make_tensor(nb::handle data, nb::handle dtype, nb::handle device,
                   bool requires_grad, bool pinned) {
  const auto check = [](nb::handle given, bool fits, const char* name,
                        const char* wanted) {
    HOTARU_CHECK_AS(TypeError, given.is_none() || fits, "tensor(): argument '",
                    name, "' must be ", wanted, ", not ",
                    class_name(given.ptr()));
  };
  check(dtype, is_dtype(dtype.ptr()) || PyType_Check(dtype.ptr()), "dtype",
        "torch.dtype");
  check(device, names_device(device.ptr()), "device", "torch.device");
  if (is_tensor(data.ptr())) warn_of_copy();
  Tensor out = tensor_from_data(
      data.ptr(),
      dtype.is_none() ? std::nullopt : std::optional(to_dtype(dtype.ptr())),
      device.is_none() ? std::nullopt : std::optional(to_device(device.ptr())));
  check_gradient(requires_grad, out.dtype());
  if (pinned) out = pin_memory(out);
  if (requires_grad) autograd::set_requires_grad(out, true);
  return out;
}

/// PyTorch's errors for arguments that tensor() has no place for.
Tensor refuse_tensor(const nb::args& given, const nb::kwargs& keywords) {
  const size_t count = given.size();
  const bool named = keywords.contains("data");
  HOTARU_CHECK_AS(TypeError, count > 0 || named,
                  "tensor() missing 1 required positional arguments: \"data\"");
  HOTARU_CHECK_AS(TypeError, count < 2,
                  "tensor() takes 1 positional argument but ", count,
                  " were given");
  HOTARU_CHECK_AS(TypeError, count == 0 || !named,
                  "tensor() got multiple values for argument 'data'");
  for (const auto [key, value] : keywords) {
    const std::string name = nb::cast<std::string>(key);
    const bool flag = name == "requires_grad" || name == "pin_memory";
    HOTARU_CHECK_AS(TypeError, !flag || PyBool_Check(value.ptr()),
                    "tensor(): argument '", name, "' must be bool, not ",
                    class_name(value.ptr()));
    HOTARU_CHECK_AS(
        TypeError,
        flag || name == "data" || name == "dtype" || name == "device",
        "tensor() got an unexpected keyword argument '", name, "'");
  }
  fail<TypeError>("tensor(): these arguments fit no signature");
}

/// Tensor that a trace makes of data that holds its stand-ins, else null.
nb::object traced_tensor(nb::handle data, nb::handle dtype, nb::handle device) {
  nb::dict keywords;
  if (!dtype.is_none()) keywords["dtype"] = dtype;
  if (!device.is_none()) keywords["device"] = device;
  const nb::object itself = nb::module_::import_("hotaru._C").attr("tensor");
  return ask_trace(itself, nb::make_tuple(data), keywords);
}

nb::object dtype_of_both(nb::handle a, nb::handle b) {
  for (const nb::handle o : {a, b})
    if (is_tensor(o.ptr()) && is_opaque(tensor_of(o.ptr())) &&
        nb::cast<bool>(o.attr("is_quantized")))
      return quantized_rule("result_type")(a, b);
  const auto operand = [](nb::handle o) {
    return is_tensor(o.ptr()) ? tensor_of(o.ptr()) : number_tensor(o.ptr());
  };
  return dtype_object(hotaru::result_type({operand(a), operand(b)}));
}

}  // namespace

void init_creation(nb::module_& m) {
  m.def(
      "tensor",
      [](nb::handle data, nb::handle dtype, nb::handle device,
         bool requires_grad, bool pinned) {
        try {
          return nb::cast(
              make_tensor(data, dtype, device, requires_grad, pinned));
        } catch (const std::exception&) {
          if (nb::object out = traced_tensor(data, dtype, device);
              out.is_valid())
            return out;
          throw;
        }
      },
      nb::arg("data").none(), nb::kw_only(), nb::arg("dtype") = nb::none(),
      nb::arg("device") = nb::none(), nb::arg("requires_grad") = false,
      nb::arg("pin_memory") = false,
      "A tensor that copies numbers, nested sequences, arrays or a tensor.");
  m.def("tensor", &refuse_tensor,
        nb::sig("def tensor(*args, **kwargs) -> Tensor"));
  // A parameter's name says whether it is a tensor or a number.
  constexpr const char* kOperands[][2] = {{"tensor1", "tensor2"},
                                          {"tensor", "other"},
                                          {"scalar", "tensor"},
                                          {"scalar1", "scalar2"}};
  for (const auto& [first, second] : kOperands)
    m.def("result_type", dtype_of_both, nb::arg(first), nb::arg(second),
          "The dtype of an operation on two tensors or numbers.");
  m.def("_tensor_bytes", [](const Tensor& self) {
    HOTARU_CHECK(self.is_contiguous(), "_tensor_bytes: not contiguous");
    return nb::bytes(self.numel() ? host_bytes(self, "_tensor_bytes") : "",
                     size_t(self.numel()) * itemsize(self.dtype()));
  });
}

}  // namespace hotaru::python
