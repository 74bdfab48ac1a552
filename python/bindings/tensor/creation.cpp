#include "bindings/tensor/creation.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/autograd/held.h"
#include "bindings/errors.h"
#include "bindings/ops/op_call.h"
#include "bindings/runtime/accelerator.h"
#include "bindings/tensor/default_device.h"
#include "bindings/tensor/items.h"
#include "bindings/tensor/storage_object.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/core/rare.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/determinism.h"

namespace hotaru::python {
namespace {

/// What Python's numbers are read from and written to directly.
using HostTypes = TypeList<float, double, Half, BFloat16, uint8_t, int8_t,
                           int16_t, int32_t, int64_t, Bool, std::complex<float>,
                           std::complex<double>, uint16_t, uint32_t, uint64_t>;

// Nesting beyond this is data that contains itself.
constexpr int kMaxDepth = 64;

/// A Python buffer that a storage keeps alive.
struct HeldBuffer : RefCounted {
  Py_buffer view{};
  ~HeldBuffer() override {
    with_interpreter([this] { PyBuffer_Release(&view); });
  }
};

/// What a buffer of a tensor's keeps: the memory itself, as the tensor may be
/// given another one while the buffer lives.
struct LentMemory {
  Ref<Storage> storage;
  std::vector<Py_ssize_t> dims;
};

/// The dtype of a buffer's format letter; throws for those without one.
DType dtype_of_format(const char* format, Py_ssize_t size) {
  std::string text = format ? format : "B";
  if (!text.empty() && std::strchr("@=<|", text[0])) text.erase(0, 1);
  HOTARU_CHECK_AS(ValueError, text.empty() || !std::strchr(">!", text[0]),
                  "given numpy array has byte order different from the native "
                  "byte order. Conversion between byte orders is currently not "
                  "supported.");
  if (text == "?") return DType::kBool;
  if (text == "e") return DType::kFloat16;
  if (text == "f") return DType::kFloat32;
  if (text == "d") return DType::kFloat64;
  if (text == "Zf") return DType::kComplex64;
  if (text == "Zd") return DType::kComplex128;
  if (text == "B") return DType::kUInt8;
  if (text.size() == 1 && std::strchr("HILQ", text[0])) {
    switch (size) {
      case 2:
        return DType::kUInt16;
      case 4:
        return DType::kUInt32;
      case 8:
        return DType::kUInt64;
    }
  }
  if (text.size() == 1 && std::strchr("bhilq", text[0])) {
    switch (size) {
      case 1:
        return DType::kInt8;
      case 2:
        return DType::kInt16;
      case 4:
        return DType::kInt32;
      case 8:
        return DType::kInt64;
    }
  }
  fail<TypeError>(
      "can't convert an array of format '", format ? format : "B",
      "'. The only supported types are: float64, float32, float16, complex64, "
      "complex128, int64, int32, int16, int8, uint8, and bool.");
}

/// What is said the first time that read-only memory is shared, by whom.
struct ReadOnlyWarning {
  const char* text;
  bool given = false;

  void give() {
    if (std::exchange(given, true) && !warns_always()) return;
    if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) throw nb::python_error();
  }
};

ReadOnlyWarning read_only_array{
    "The given NumPy array is not writable, and PyTorch does not support "
    "non-writable tensors. This means writing to this tensor will result in "
    "undefined behavior. You may want to copy the array to protect its data or "
    "make it writable before converting it to a tensor. This type of warning "
    "will be suppressed for the rest of this program."};
ReadOnlyWarning read_only_buffer{
    "The given buffer is not writable, and PyTorch does not support "
    "non-writable tensors. This means you can write to the underlying "
    "(supposedly non-writable) buffer using the tensor. You may want to copy "
    "the buffer to protect its data or make it writable before converting it "
    "to a tensor. This type of warning will be suppressed for the rest of this "
    "program."};

/// A tensor over the object's buffer, without a copy.
Tensor from_buffer(PyObject* object, ReadOnlyWarning* warning = nullptr) {
  auto held = make_ref<HeldBuffer>();
  Py_buffer& view = held->view;
  if (PyObject_GetBuffer(object, &view, PyBUF_RECORDS) != 0) {
    PyErr_Clear();
    // Read-only memory is taken all the same, as in PyTorch; writing into it
    // is the caller's error.
    if (PyObject_GetBuffer(object, &view, PyBUF_RECORDS_RO) != 0)
      throw nb::python_error();
    if (warning) warning->give();
  }
  const DType dtype = dtype_of_format(view.format, view.itemsize);
  Dims sizes(size_t(view.ndim), 0), strides(size_t(view.ndim), 0);
  for (int d = 0; d < view.ndim; ++d) {
    sizes[size_t(d)] = view.shape[d];
    HOTARU_CHECK_AS(ValueError, view.strides[d] >= 0 || view.shape[d] <= 1,
                    "At least one stride in the given numpy array is negative, "
                    "and tensors with negative strides are not currently "
                    "supported. (You can probably work around this by making a "
                    "copy of your array  with array.copy().) ");
    HOTARU_CHECK_AS(ValueError, view.strides[d] % view.itemsize == 0,
                    "given numpy array strides not a multiple of the element "
                    "byte size. Copy the numpy array to reallocate the "
                    "memory.");
    strides[size_t(d)] = std::max<int64_t>(view.strides[d] / view.itemsize, 0);
  }
  const size_t nbytes = storage_bytes(sizes, strides, itemsize(dtype));
  void* data = view.buf;
  return make_tensor(
      make_ref<Storage>(data, nbytes, Device{}, Ref<RefCounted>(held)), dtype,
      sizes, strides, 0);
}

}  // namespace

Tensor tensor_over_array(PyObject* array) {
  return from_buffer(array);
}

namespace {

bool is_list(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o);
}

/// A sequence that is neither list nor tuple nor text: a range, a deque.
bool is_other_sequence(PyObject* o) {
  return PySequence_Check(o) && !is_list(o) && !is_tensor(o) &&
         !PyUnicode_Check(o) && !is_array(o);
}

[[noreturn]] void too_deep(PyObject* data) {
  fail<ValueError>("too many dimensions '", Py_TYPE(data)->tp_name, "'");
}

nb::object as_tuple(PyObject* sequence) {
  nb::object out = nb::steal(PySequence_Tuple(sequence));
  if (!out.is_valid()) throw nb::python_error();
  return out;
}

/// What a nest of sequences holds.
struct Nest {
  /// How long sequences are, level by level, by the first of each.
  Dims shape;
  std::optional<DType> dtype;
  /// Whether all is lists, tuples and numbers: no arrays, no other sequences.
  bool plain = true;

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
      shape.push_back(PySequence_Fast_GET_SIZE(at.ptr()));
      if (shape.back() == 0) return;
      at = nb::borrow(PySequence_Fast_GET_ITEM(at.ptr(), 0));
    }
    // A text of one letter holds itself.
    if (!shape.empty() && PyUnicode_Check(at.ptr())) too_deep(at.ptr());
  }

  /// What is nested deeper than the shape says, or has another length (a list
  /// may hold itself), is left to the error of whoever reads the numbers.
  void infer(PyObject* data, size_t depth = 0) {
    if (is_list(data)) {
      const Py_ssize_t n = PySequence_Fast_GET_SIZE(data);
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
      merge(from_buffer(data).dtype());
    } else if (is_other_sequence(data)) {
      plain = false;
      infer(as_tuple(data).ptr(), depth);
    } else if (is_number(data)) {
      merge(number_dtype(data));
    } else if (PyUnicode_Check(data)) {
      fail<TypeError>("new(): invalid data type 'str'");
    } else {
      fail("Could not infer dtype of ", Py_TYPE(data)->tp_name);
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
    return item(t);
  }
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    HOTARU_CHECK_AS(ValueError, !overflow, "Overflow when unpacking long long");
    if (!PyBool_Check(o)) return int64_t(value);
  }
  return to_scalar(o);
}

template <class T>
T number_as(PyObject* o, DType dtype) {
  constexpr bool kInteger = std::is_integral_v<T>;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    if (PyFloat_CheckExact(o)) return T(PyFloat_AS_DOUBLE(o));
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
  const Scalar value = element(o, kInteger);
  if constexpr (kIsBool<T>) return T(value.to_complex() != 0.0);
  if constexpr (kInteger)
    HOTARU_CHECK(holds(dtype, value), "value cannot be converted to type ",
                 dtype_name(dtype), " without overflow");
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
      fail<TypeError>("'", Py_TYPE(data)->tp_name,
                      "' object cannot be interpreted as an integer");
    *out++ = number_as<T>(data, dtype);
    return;
  }
  if (!is_list(data)) fail<TypeError>("not a sequence");
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(data);
  HOTARU_CHECK_AS(ValueError, n == shape[dim], "expected sequence of length ",
                  shape[dim], " at dim ", dim, " (got ", n, ")");
  for_items(data, [&](PyObject* item, Py_ssize_t) {
    fill_nest(item, shape, dtype, out, dim + 1);
    return true;
  });
}

/// What lies `depth` levels inside as it is, what holds it as lists.
nb::object as_lists(PyObject* data, size_t depth) {
  if (is_array(data)) {
    nb::object out = nb::steal(to_list(from_buffer(data)));
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
  nest.measure(data);
  nest.infer(data);
  nb::object lists;
  if (!nest.plain) {
    lists = as_lists(data, nest.shape.size());
    data = lists.ptr();
    nest.measure(data);
  }
  const DType result = dtype.value_or(nest.dtype.value_or(default_dtype()));
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
      PyList_SET_ITEM(list, i, item);
    else
      Py_CLEAR(list);
  }
  return list;
}

const char* buffer_format(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "?";
    case DType::kUInt8:
      return "B";
    case DType::kInt8:
      return "b";
    case DType::kInt16:
      return "h";
    case DType::kInt32:
      return "i";
    case DType::kInt64:
      return "l";
    case DType::kFloat16:
      return "e";
    case DType::kFloat32:
      return "f";
    case DType::kFloat64:
      return "d";
    case DType::kComplex64:
      return "Zf";
    case DType::kComplex128:
      return "Zd";
    case DType::kUInt16:
      return "H";
    case DType::kUInt32:
      return "I";
    case DType::kUInt64:
      return "L";
    default:
      break;
  }
  fail<TypeError>("Got unsupported ScalarType ", scalar_type_name(dtype));
}

/// A plain CPU tensor that numpy may share, or PyTorch's errors.
Tensor shareable(const Tensor& self, bool force) {
  if (force) return to(detach(self), Device{});
  HOTARU_CHECK_AS(TypeError, self.device().is_cpu(), "can't convert ",
                  self.device(),
                  " device type tensor to numpy. Use "
                  "Tensor.cpu() to copy the tensor to host memory first.");
  HOTARU_CHECK(!autograd::requires_grad(self) || !autograd::grad_enabled(),
               "Can't call numpy() on Tensor that requires grad. Use "
               "tensor.detach().numpy() instead.");
  return self;
}

}  // namespace

bool is_array(PyObject* o) {
  return !is_tensor(o) && PyObject_CheckBuffer(o) && !PyBytes_Check(o) &&
         nb::hasattr(o, "__array__");
}

namespace {

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
    const Tensor shared = from_buffer(data);
    out = to(shared, dtype, std::nullopt, true);
  } else if (!is_list(data) && !is_number(data) &&
             (out = from_storage(data, dtype)).defined()) {
    return device ? to(out, *device) : out;
  } else {
    out = from_nest(data, dtype);
  }
  return device ? to(out, *device) : out;
}

PyObject* to_list(const Tensor& self) {
  Tensor host = to(detach(self), Device{});
  if (is_rare(host.dtype()) && !is_wide_unsigned(host.dtype()))
    host = to(host, carrier(host.dtype()));
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

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  try {
    const Tensor t = shareable(tensor_of(self), false);
    void* data = named("numpy", [&] {
      t.storage()->lend();
      return host_bytes(t, "numpy");
    });
    const size_t n = size_t(t.dim());
    auto lent = std::make_unique<LentMemory>();
    lent->storage = t.storage();
    lent->dims.resize(2 * n + 1);
    Py_ssize_t* dims = lent->dims.data();
    const auto item = Py_ssize_t(itemsize(t.dtype()));
    for (size_t d = 0; d < n; ++d) {
      dims[d] = t.sizes()[d];
      dims[n + d] = t.strides()[d] * item;
    }
    view->format = const_cast<char*>(buffer_format(t.dtype()));
    view->obj = Py_NewRef(self);
    view->buf = t.numel() ? data : view;
    view->len = t.numel() * item;
    view->itemsize = item;
    view->readonly = 0;
    view->ndim = int(n);
    view->shape = dims;
    view->strides = dims + n;
    view->suboffsets = nullptr;
    view->internal = lent.release();
    return 0;
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_BufferError, e.what());
    view->obj = nullptr;
    return -1;
  }
}

void release_buffer(PyObject*, Py_buffer* view) {
  delete static_cast<LentMemory*>(view->internal);
}

namespace {

Tensor make_tensor(nb::handle data, nb::handle dtype, nb::handle device,
                   bool requires_grad, bool pinned) {
  Tensor out = tensor_from_data(
      data.ptr(),
      dtype.is_none() ? std::nullopt : std::optional(to_dtype(dtype.ptr())),
      device.is_none() ? std::nullopt : std::optional(to_device(device.ptr())));
  HOTARU_CHECK(!requires_grad || is_differentiable(out.dtype()),
               "Only Tensors of floating point and complex dtype can "
               "require gradients");
  if (pinned) out = pin_memory(out);
  if (requires_grad) autograd::set_requires_grad(out, true);
  return out;
}

/// What a trace makes of data that holds its stand-ins, else null.
nb::object traced_tensor(nb::handle data, nb::handle dtype, nb::handle device) {
  nb::dict keywords;
  if (!dtype.is_none()) keywords["dtype"] = dtype;
  if (!device.is_none()) keywords["device"] = device;
  const nb::object itself = nb::module_::import_("hotaru._C").attr("tensor");
  return ask_trace(itself, nb::make_tuple(data), keywords);
}

nb::object dtype_of_both(nb::handle a, nb::handle b) {
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
      nb::arg("data"), nb::arg("dtype") = nb::none(),
      nb::arg("device") = nb::none(), nb::arg("requires_grad") = false,
      nb::arg("pin_memory") = false,
      "A tensor that copies numbers, nested sequences, arrays or a tensor.");
  m.def(
      "from_numpy",
      [](nb::handle array) {
        HOTARU_CHECK_AS(TypeError, is_array(array.ptr()),
                        "expected np.ndarray (got ",
                        Py_TYPE(array.ptr())->tp_name, ")");
        return from_buffer(array.ptr(), &read_only_array);
      },
      "A tensor that shares a numpy array's memory.");
  m.def(
      "frombuffer",
      [](nb::handle buffer, nb::handle dtype, int64_t count, int64_t offset) {
        const Tensor bytes = from_buffer(buffer.ptr(), &read_only_buffer);
        HOTARU_CHECK_AS(ValueError, bytes.is_contiguous(),
                        "frombuffer: the buffer must be contiguous");
        const DType wanted = to_dtype(dtype.ptr());
        const auto item = int64_t(itemsize(wanted));
        const int64_t length = bytes.numel() * int64_t(itemsize(bytes.dtype()));
        HOTARU_CHECK_AS(ValueError, length > 0 && count != 0,
                        "both buffer length (", length, ") and count (", count,
                        ") must not be 0");
        HOTARU_CHECK_AS(ValueError, offset >= 0 && offset < length, "offset (",
                        offset,
                        " bytes) must be non-negative and no greater than "
                        "buffer length (",
                        length, " bytes) minus 1");
        const int64_t left = length - offset;
        HOTARU_CHECK_AS(ValueError, count > 0 || left % item == 0,
                        "buffer length (", left, " bytes) after offset (",
                        offset, " bytes) must be a multiple of element size (",
                        item, ")");
        if (count < 0) count = left / item;
        HOTARU_CHECK_AS(ValueError, count <= left / item,
                        "requested buffer length (", count, " * ", item,
                        " bytes) after offset (", offset,
                        " bytes) must not be greater than actual buffer "
                        "length (",
                        length, " bytes)");
        const auto memory = make_ref<Storage>(
            host_data<char>(bytes, "frombuffer") + offset, size_t(count * item),
            Device{}, Ref<RefCounted>(bytes.storage()));
        return make_tensor(memory, wanted, Dims{count}, Dims{1}, 0);
      },
      nb::arg("buffer"), nb::kw_only(), nb::arg("dtype"), nb::arg("count") = -1,
      nb::arg("offset") = 0);
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
  m.def("_numpy_source",
        [](const Tensor& self, bool force) { return shareable(self, force); });
}

}  // namespace hotaru::python
