#include "bindings/tensor/buffer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/autograd/held.h"
#include "bindings/errors.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

/// A Python buffer that a storage keeps alive.
struct HeldBuffer : RefCounted {
  Py_buffer view{};
  ~HeldBuffer() override {
    with_interpreter([this] { PyBuffer_Release(&view); });
  }
};

/// Memory that a buffer of a tensor's keeps: itself, as the tensor may be given
/// another one while the buffer lives.
struct LentMemory {
  Ref<Storage> storage;
  std::vector<Py_ssize_t> dims;
};

/// As numpy names the type of an array's elements; empty where `object` is
/// none of its arrays and scalars.
std::string numpy_type(PyObject* object) {
  const nb::object dtype = nb::getattr(nb::handle(object), "dtype", nb::none());
  const nb::object type = nb::getattr(dtype, "type", nb::none());
  if (!PyType_Check(type.ptr())) return {};
  return type_name(reinterpret_cast<PyTypeObject*>(type.ptr()));
}

/// Names what numpy calls them, or else the letter of the buffer's elements.
[[noreturn]] void fail_elements(PyObject* object, const char* format) {
  const std::string type = numpy_type(object);
  fail<TypeError>(
      "can't convert np.ndarray of type ", type.empty() ? format : type,
      ". The only supported types are: float64, float32, float16, complex64, "
      "complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, "
      "and bool.");
}

/// The dtype of a buffer's format letter; none for those without one.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t size) {
  std::string text = format;
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
  return std::nullopt;
}

OnceWarning read_only_array{
    "The given NumPy array is not writable, and PyTorch does not support "
    "non-writable tensors. This means writing to this tensor will result in "
    "undefined behavior. You may want to copy the array to protect its data or "
    "make it writable before converting it to a tensor. This type of warning "
    "will be suppressed for the rest of this program."};
OnceWarning read_only_buffer{
    "The given buffer is not writable, and PyTorch does not support "
    "non-writable tensors. This means you can write to the underlying "
    "(supposedly non-writable) buffer using the tensor. You may want to copy "
    "the buffer to protect its data or make it writable before converting it "
    "to a tensor. This type of warning will be suppressed for the rest of this "
    "program."};

/// Asks for an object's memory, to write into or else to read. Read-only memory
/// is taken all the same, as in PyTorch; writing into it is the caller's error.
bool lend(PyObject* object, int flags, Py_buffer& view, OnceWarning* warning) {
  if (PyObject_GetBuffer(object, &view, flags | PyBUF_WRITABLE) == 0)
    return true;
  PyErr_Clear();
  if (PyObject_GetBuffer(object, &view, flags) != 0) return false;
  if (warning) warning->give();
  return true;
}

/// As numpy says them itself. Those of dimensions of one element come to a
/// buffer as if they were in a row.
std::optional<std::vector<Py_ssize_t>> strides_of_array(PyObject* array,
                                                        size_t n) {
  const nb::object own = nb::getattr(nb::handle(array), "strides", nb::none());
  if (!PyTuple_Check(own.ptr()) || nb::len(own) != n) return std::nullopt;
  std::vector<Py_ssize_t> out;
  for (const nb::handle stride : own) {
    out.push_back(PyLong_AsSsize_t(stride.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
  }
  return out;
}

/// Bytes from element to element. An exporter without strides has its elements
/// in a row.
std::vector<Py_ssize_t> byte_strides(PyObject* object, const Py_buffer& view) {
  const auto n = size_t(view.ndim);
  if (std::find(view.shape, view.shape + n, 1) != view.shape + n)
    if (auto own = strides_of_array(object, n)) return *own;
  if (view.strides) return {view.strides, view.strides + n};
  std::vector<Py_ssize_t> out(n);
  Py_ssize_t step = view.itemsize;
  for (size_t d = n; d-- > 0; step *= view.shape[d]) out[d] = step;
  return out;
}

/// A tensor over the object's buffer, without a copy.
Tensor from_buffer(PyObject* object, OnceWarning* warning) {
  auto held = make_ref<HeldBuffer>();
  Py_buffer& view = held->view;
  if (!lend(object, PyBUF_STRIDES | PyBUF_FORMAT, view, warning)) {
    const nb::python_error error;
    // Arrays of times are not lent.
    if (!numpy_type(object).empty()) fail_elements(object, "");
    throw error;
  }
  const char* format = view.format ? view.format : "B";
  std::optional<DType> dtype = dtype_of_format(format, view.itemsize);
  // A time alone is, as the bytes of its number.
  const bool time = view.ndim > 0 && is_numpy_scalar(object);
  if (!dtype || time) fail_elements(object, format);
  Dims sizes(size_t(view.ndim), 0), strides(size_t(view.ndim), 0);
  const std::vector<Py_ssize_t> steps = byte_strides(object, view);
  const bool any = view.len > 0;
  for (size_t d = 0; d < steps.size(); ++d) {
    sizes[d] = view.shape[d];
    HOTARU_CHECK_AS(ValueError, steps[d] >= 0 || view.shape[d] <= 1 || !any,
                    "At least one stride in the given numpy array is negative, "
                    "and tensors with negative strides are not currently "
                    "supported. (You can probably work around this by making a "
                    "copy of your array  with array.copy().) ");
    HOTARU_CHECK_AS(ValueError, steps[d] % view.itemsize == 0 || !any,
                    "given numpy array strides not a multiple of the element "
                    "byte size. Copy the numpy array to reallocate the "
                    "memory.");
    strides[d] = std::max<int64_t>(steps[d] / view.itemsize, 0);
  }
  const size_t nbytes = storage_bytes(sizes, strides, itemsize(*dtype));
  void* data = view.buf;
  return make_tensor(
      make_ref<Storage>(data, nbytes, Device{}, Ref<RefCounted>(held)), *dtype,
      sizes, strides, 0);
}

/// The memory that an object lends as bytes in a row, whatever it says of its
/// elements.
Ref<Storage> memory_of(PyObject* object) {
  auto held = make_ref<HeldBuffer>();
  Py_buffer& view = held->view;
  if (!lend(object, PyBUF_SIMPLE, view, &read_only_buffer)) {
    PyErr_Clear();
    fail("could not retrieve buffer from object");
  }
  return make_ref<Storage>(view.buf, size_t(view.len), Device{},
                           Ref<RefCounted>(held));
}

/// `count` elements of a buffer from `offset` bytes on; all if negative.
Tensor elements_of(PyObject* buffer, DType wanted, int64_t count,
                   int64_t offset) {
  const Ref<Storage> memory = memory_of(buffer);
  const auto item = int64_t(itemsize(wanted));
  const auto length = int64_t(memory->nbytes());
  HOTARU_CHECK_AS(ValueError, length > 0 && count != 0, "both buffer length (",
                  length, ") and count (", count, ") must not be 0");
  HOTARU_CHECK_AS(ValueError, offset >= 0 && offset < length, "offset (",
                  offset,
                  " bytes) must be non-negative and no greater than "
                  "buffer length (",
                  length, " bytes) minus 1");
  const int64_t left = length - offset;
  HOTARU_CHECK_AS(ValueError, count > 0 || left % item == 0, "buffer length (",
                  left, " bytes) after offset (", offset,
                  " bytes) must be a multiple of element size (", item, ")");
  if (count < 0) count = left / item;
  HOTARU_CHECK_AS(ValueError, count <= left / item, "requested buffer length (",
                  count, " * ", item, " bytes) after offset (", offset,
                  " bytes) must not be greater than actual buffer "
                  "length (",
                  length, " bytes)");
  const auto part = make_ref<Storage>(
      static_cast<char*>(memory->data()) + offset, size_t(count * item),
      Device{}, Ref<RefCounted>(memory));
  return make_tensor(part, wanted, Dims{count}, Dims{1}, 0);
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

/// The order that those who ask for a buffer need elements to be in; 0 for any.
char wanted_order(int flags) {
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) return 'C';
  const auto asked = [&](int flag) { return (flags & flag) == flag; };
  if (asked(PyBUF_C_CONTIGUOUS)) return 'C';
  if (asked(PyBUF_F_CONTIGUOUS)) return 'F';
  return asked(PyBUF_ANY_CONTIGUOUS) ? 'A' : 0;
}

}  // namespace

bool is_array(PyObject* o) {
  return !is_tensor(o) && PyObject_CheckBuffer(o) && !PyBytes_CheckExact(o) &&
         !PyUnicode_Check(o) && nb::hasattr(o, "__array__");
}

Tensor tensor_over_array(PyObject* array) {
  return from_buffer(array, nullptr);
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
    view->buf = t.numel() ? data : view;
    view->len = t.numel() * item;
    view->itemsize = item;
    view->readonly = 0;
    view->ndim = int(n);
    view->shape = dims;
    view->strides = dims + n;
    view->suboffsets = nullptr;
    const char order = wanted_order(flags);
    HOTARU_CHECK(!order || PyBuffer_IsContiguous(view, order),
                 "the tensor's elements are not in a row");
    view->internal = lent.release();
    view->obj = Py_NewRef(self);
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

void init_buffer(nb::module_& m) {
  m.def(
      "from_numpy",
      [](nb::handle array) {
        const bool fits =
            is_array(array.ptr()) && !is_numpy_scalar(array.ptr());
        HOTARU_CHECK_AS(TypeError, fits, "expected np.ndarray (got ",
                        class_name(array.ptr()), ")");
        return from_buffer(array.ptr(), &read_only_array);
      },
      nb::arg("ndarray").none(),
      "A tensor that shares a numpy array's memory.");
  m.def(
      "frombuffer",
      [](nb::handle buffer, nb::handle dtype, int64_t count, int64_t offset) {
        return elements_of(buffer.ptr(), to_dtype(dtype.ptr()), count, offset);
      },
      nb::arg("buffer"), nb::kw_only(), nb::arg("dtype"), nb::arg("count") = -1,
      nb::arg("offset") = 0);
  m.def(
      "_lends_memory",
      [](nb::handle object) {
        return bool(PyObject_CheckBuffer(object.ptr()));
      },
      nb::arg().none());
  m.def("_numpy_source",
        [](const Tensor& self, bool force) { return shareable(self, force); });
}

}  // namespace hotaru::python
