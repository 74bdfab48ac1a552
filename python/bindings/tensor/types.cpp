#include "bindings/tensor/types.h"

#include <array>
#include <vector>

#include "bindings/stable_abi.h"
#include "bindings/tensor/items.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/memory_format.h"
#include "hotaru/core/rare.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::python {
namespace {

// Borrowed from the module, which keeps them for the process's life.
std::array<PyObject*, 64> dtype_objects{};
std::vector<PyObject*> layout_objects;
PyObject* size_type = nullptr;

struct Alias {
  const char* name;
  DType dtype;
};
constexpr Alias kAliases[] = {
    {"float", DType::kFloat32},     {"double", DType::kFloat64},
    {"half", DType::kFloat16},      {"long", DType::kInt64},
    {"int", DType::kInt32},         {"short", DType::kInt16},
    {"chalf", DType::kComplex32},   {"cfloat", DType::kComplex64},
    {"cdouble", DType::kComplex128}};

std::string device_repr(const Device& d) {
  std::string out = "device(type='";
  out += device_type_name(d.type);
  out += "'";
  if (d.index >= 0) out += ", index=" + std::to_string(int(d.index));
  return out + ")";
}

bool is_text(PyObject* object) {
  return PyUnicode_Check(object) || PyBytes_Check(object);
}

std::string text_of(PyObject* object) {
  if (PyUnicode_Check(object)) return nb::cast<std::string>(nb::handle(object));
  return std::string(view_of_bytes(object));
}

bool is_plain_int(PyObject* object) {
  return PyLong_Check(object) && !PyBool_Check(object);
}

/// True for what is written behind a device's name. Arrays are none, though
/// Python asks those without dimensions for integers, too.
bool is_device_index(PyObject* object) {
  return is_plain_int(object) || is_tensor(object) ||
         (PyIndex_Check(object) && !PyBool_Check(object) &&
          (is_numpy_scalar(object) || !nb::hasattr(object, "__array__")));
}

Device make_device(nb::handle type, nb::handle index) {
  if (index.is_none() && !is_text(type.ptr())) return to_device(type.ptr());
  const std::string text = text_of(type.ptr());
  Device device = Device::parse(text);
  if (index.is_none()) return device;
  HOTARU_CHECK(device.index < 0,
               "type (string) must not include an index because index was "
               "passed explicitly: ",
               text);
  const int64_t n = to_int(index.ptr());
  HOTARU_CHECK(n >= 0 && n < 128, "Device index must not be negative");
  device.index = int8_t(n);
  return device;
}

/// PyTorch's errors for arguments that device() has no place for.
[[noreturn]] void refuse_device(const nb::args& given,
                                const nb::kwargs& keywords) {
  const size_t count = given.size();
  const auto type_name = [](nb::handle object) {
    return class_name(object.ptr());
  };
  const bool indexed = keywords.contains("index");
  const bool several = (count == 1 && indexed) || count == 2;
  if (several && !is_text(given[0].ptr())) {
    fail<TypeError>(
        "device(): argument 'type' (position 1) must be str, not ",
        is_device(given[0].ptr()) ? "torch.device" : type_name(given[0]));
  }
  if (several) {
    const nb::object index =
        count == 2 ? nb::object(given[1]) : nb::object(keywords["index"]);
    HOTARU_CHECK_AS(TypeError, index.is_none() || is_device_index(index.ptr()),
                    "device(): argument 'index' (position 2) must be int, not ",
                    type_name(index));
  }
  std::string text;
  for (const nb::handle object : given)
    text += concat(text.empty() ? "" : ", ", type_name(object));
  for (const auto [key, value] : keywords) {
    const std::string name = nb::cast<std::string>(key);
    HOTARU_CHECK_AS(TypeError,
                    count == 0 || (name != "type" && name != "device"),
                    "device() got multiple values for argument '", name, "'");
    HOTARU_CHECK_AS(TypeError, count == 0 || name == "index",
                    "device() got an unexpected keyword argument '", name, "'");
    text += concat(name, "=", type_name(value), ", ");
  }
  fail<TypeError>(
      "device() received an invalid combination of arguments - got (", text,
      "), but expected one of:\n * (torch.device device)\n"
      " * (str type, int index = -1)\n");
}

/// True if one signature of device() takes them.
bool fit_device(nb::handle type, nb::handle index) {
  if (index.is_none()) return names_device(type.ptr());
  return is_text(type.ptr()) && is_device_index(index.ptr());
}

/// True for dtypes of quantised tensors, which Python knows alone.
bool is_quantized_dtype(nb::handle object) {
  return !is_dtype(object.ptr()) && nb::hasattr(object, "storage");
}

void init_dtype(nb::module_& m) {
  nb::class_<PyDType> cls(m, "dtype", "The type of a tensor's elements.");
  cls.def("__repr__", [](const PyDType& d) { return concat(d.dtype); })
      .def("__reduce__",
           [](const PyDType& d) { return std::string(dtype_name(d.dtype)); })
      .def_prop_ro("is_floating_point",
                   [](const PyDType& d) { return is_floating_point(d.dtype); })
      .def_prop_ro("is_complex",
                   [](const PyDType& d) { return is_complex(d.dtype); })
      .def_prop_ro("is_signed",
                   [](const PyDType& d) { return checked_signed(d.dtype); })
      .def_prop_ro("itemsize",
                   [](const PyDType& d) { return itemsize(d.dtype); })
      .def("to_real",
           [](const PyDType& d) { return dtype_object(to_real(d.dtype)); })
      .def("to_complex", [](const PyDType& d) {
        HOTARU_CHECK(is_differentiable(d.dtype) && !is_float8(d.dtype) &&
                         !is_stored_only(d.dtype),
                     "Unknown Complex ScalarType for ",
                     scalar_type_name(d.dtype));
        const bool half = d.dtype == DType::kFloat16;
        return dtype_object(half || d.dtype == DType::kComplex32
                                ? DType::kComplex32
                                : to_complex(d.dtype));
      });
  for (DType dtype : kAllDTypes) {
    nb::object object = nb::cast(PyDType{dtype});
    dtype_objects[size_t(dtype)] = object.ptr();
    m.attr(dtype_name(dtype)) = object;
  }
  for (const Alias& alias : kAliases)
    m.attr(alias.name) = dtype_object(alias.dtype);
  m.def("_dtype_number", [](const PyDType& d) { return int64_t(d.dtype); });
  m.def("get_default_dtype", [] { return dtype_object(default_dtype()); });
  m.def("set_default_dtype",
        [](nb::handle d) { set_default_dtype(to_dtype(d.ptr())); });
  m.def("promote_types", [](nb::handle a, nb::handle b) {
    if (is_quantized_dtype(a) || is_quantized_dtype(b))
      return quantized_rule("promote_types")(a, b);
    return dtype_object(promote_types(to_dtype(a.ptr()), to_dtype(b.ptr())));
  });
  m.def("can_cast", [](nb::handle from, nb::handle to) {
    if (is_quantized_dtype(from) || is_quantized_dtype(to))
      return nb::cast<bool>(quantized_rule("can_cast")(from, to));
    return can_cast(to_dtype(from.ptr()), to_dtype(to.ptr()));
  });
}

void init_device(nb::module_& m) {
  nb::class_<Device>(m, "device",
                     "A device type and an index: device('cuda:1'), "
                     "device('cuda', 1).")
      .def(
          "__init__",
          [](Device* self, nb::handle type, nb::handle index) {
            if (!fit_device(type, index)) throw nb::next_overload();
            new (self) Device(make_device(type, index));
          },
          nb::arg("type"), nb::arg("index") = nb::none())
      .def(
          "__init__",
          [](Device* self, nb::handle device) {
            if (!names_device(device.ptr())) throw nb::next_overload();
            new (self) Device(to_device(device.ptr()));
          },
          nb::arg("device"))
      .def("__init__",
           [](Device*, const nb::args& given, const nb::kwargs& keywords) {
             refuse_device(given, keywords);
           })
      .def_prop_ro("type",
                   [](const Device& d) { return device_type_name(d.type); })
      .def_prop_ro("index",
                   [](const Device& d) -> nb::object {
                     if (d.index < 0) return nb::none();
                     return nb::int_(int(d.index));
                   })
      .def(
          "synchronize",
          [](const Device& d) {
            const Device device = resolve(d);
            if (device.is_cpu())
              synchronize_all();
            else
              accelerator(device.type).synchronize(device.index);
          },
          "Waits for all queued work of the device.")
      .def("__str__", &Device::str)
      .def("__repr__", &device_repr)
      .def("__hash__",
           [](const Device& d) { return int(d.type) * 256 + d.index; })
      .def(
          "__eq__",
          [](const Device& d, nb::handle other) {
            return nb::isinstance<Device>(other) &&
                   d == nb::cast<Device>(other);
          },
          nb::arg().none())
      .def("__reduce__", [m](const Device& d) {
        return nb::make_tuple(m.attr("device"), nb::make_tuple(d.str()));
      });
  m.def("_device_count", [](const char* type) -> int64_t {
    return device_count(Device::parse(type).type);
  });
}

template <class T>
void init_named(nb::module_& m, const char* cls,
                std::initializer_list<T> members) {
  // Pickles and copies are the name.
  nb::class_<T>(m, cls)
      .def("__repr__",
           [](const T& v) { return std::string("torch.") + v.name; })
      .def("__reduce__", [](const T& v) { return std::string(v.name); });
  for (const T& member : members) m.attr(member.name) = nb::cast(member);
}

void init_layouts(nb::module_& m) {
  init_named<PyLayout>(m, "layout", {{0, "strided"}});
  nb::class_<PySparseLayout, PyLayout>(m, "_SparseLayout");
  layout_objects.push_back(m.attr("strided").ptr());
  int64_t number = 0;
  for (const char* name : {"sparse_coo", "sparse_csr", "sparse_csc",
                           "sparse_bsr", "sparse_bsc", "_mkldnn", "jagged"}) {
    const nb::object layout = nb::cast(PySparseLayout{{++number, name}});
    layout_objects.push_back(layout.ptr());
    m.attr(name) = layout;
  }
}

}  // namespace

nb::object layout_object(int64_t number) {
  return nb::borrow(layout_objects.at(size_t(number)));
}

nb::object dtype_object(DType dtype) {
  return nb::borrow(dtype_objects[size_t(dtype)]);
}

nb::object device_object(Device device) {
  return nb::cast(device);
}

nb::object size_object(IntSpan sizes) {
  PyObject* tuple = PyTuple_New(Py_ssize_t(sizes.size()));
  for (size_t i = 0; i < sizes.size(); ++i)
    put_tuple_item(tuple, Py_ssize_t(i), PyLong_FromLongLong(sizes[i]));
  static const auto make =
      reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
  // The class's __new__ checks what these are known to be.
  PyObject* args = PyTuple_Pack(1, tuple);
  PyObject* size =
      args ? make(reinterpret_cast<PyTypeObject*>(size_type), args, nullptr)
           : nullptr;
  Py_XDECREF(args);
  Py_DECREF(tuple);
  if (!size) throw nb::python_error();
  return nb::steal(size);
}

bool is_dtype(PyObject* object) {
  return nb::isinstance<PyDType>(object);
}
bool is_device(PyObject* object) {
  return nb::isinstance<Device>(object);
}

DType to_dtype(PyObject* object) {
  if (is_dtype(object)) return nb::inst_ptr<PyDType>(object)->dtype;
  const auto* type = reinterpret_cast<PyTypeObject*>(object);
  if (type == &PyFloat_Type) return DType::kFloat64;
  if (type == &PyBool_Type) return DType::kBool;
  if (type == &PyLong_Type) return DType::kInt64;
  if (type == &PyComplex_Type) return DType::kComplex128;
  fail<TypeError>("dtype must be a torch.dtype, not ", class_name(object));
}

bool names_device(PyObject* object) {
  return is_device(object) || is_text(object) || is_plain_int(object);
}

Device to_device(PyObject* object) {
  if (is_device(object)) return *nb::inst_ptr<Device>(object);
  if (is_text(object)) return Device::parse(text_of(object));
  if (is_plain_int(object)) {
    const int64_t index = nb::cast<int64_t>(nb::handle(object));
    HOTARU_CHECK(index >= 0 && index < 128,
                 "Device index must not be negative");
    return {DeviceType::kCUDA, int8_t(index)};
  }
  fail<TypeError>("device must be a torch.device, a str or an int, not ",
                  class_name(object));
}

Dims to_dims(PyObject* object) {
  PyObject* sequence =
      PySequence_Fast(object, "expected a sequence of integers");
  if (!sequence) throw nb::python_error();
  const nb::object keep = nb::steal(sequence);
  Dims out(size_t(sequence_size(sequence)), 0);
  for_items(sequence, [&](PyObject* item, Py_ssize_t i) {
    out[size_t(i)] = to_int(item);
    return true;
  });
  return out;
}

void init_types(nb::module_& m) {
  init_dtype(m);
  init_device(m);
  init_layouts(m);
  init_named<PyMemoryFormat>(m, "memory_format",
                             {{0, "contiguous_format"},
                              {1, "preserve_format"},
                              {2, "channels_last"},
                              {3, "channels_last_3d"}});
  m.def("_has_format", [](const Tensor& t, nb::handle format) {
    HOTARU_CHECK_AS(TypeError, nb::isinstance<PyMemoryFormat>(format),
                    "is_contiguous(): argument 'memory_format' must be "
                    "torch.memory_format, not ",
                    nb::str(format.type().attr("__name__")).c_str());
    const int64_t number = nb::inst_ptr<PyMemoryFormat>(format)->number;
    return has_format(t.sizes(), t.strides(), MemoryFormat(number));
  });
  // The class itself is plain Python: a tuple with a few methods.
  m.def("_set_size_type",
        [](nb::handle type) { size_type = type.inc_ref().ptr(); });
}

nb::object quantized_rule(const char* name) {
  return nb::module_::import_("hotaru._quantized.promotion").attr(name);
}

}  // namespace hotaru::python
