// Arguments and results of functions that pybind11 binds.
#pragma once

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "torch/csrc/autograd/python_variable.h"
#include "torch/types.h"

PYBIND11_DECLARE_HOLDER_TYPE(T, c10::intrusive_ptr<T>, true)

namespace py = pybind11;

namespace torch::detail {

inline PyObject* checked(PyObject* object) {
  if (!object) throw py::error_already_set();
  return object;
}

/// Loads what goes through a Value: numbers, generators, whatever TorchScript
/// has.
template <class T>
bool load_value(py::handle source, T* out) {
  hotaru::Value value;
  if (!python_api().to_value(source.ptr(), &value)) return false;
  try {
    *out = hotaru::libtorch::Boxed<T>::from(value);
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}
template <class T>
py::handle cast_value(const T& value) {
  return checked(
      python_api().value_object(hotaru::libtorch::Boxed<T>::to(value)));
}

}  // namespace torch::detail

namespace pybind11::detail {

template <>
struct type_caster<at::Tensor> {
  PYBIND11_TYPE_CASTER(at::Tensor, const_name("torch.Tensor"));
  bool load(handle source, bool) {
    hotaru::Tensor tensor;
    if (!torch::detail::python_api().unwrap(source.ptr(), &tensor))
      return false;
    value = at::Tensor(std::move(tensor));
    return true;
  }
  static handle cast(const at::Tensor& t, return_value_policy, handle) {
    return torch::detail::checked(THPVariable_Wrap(t));
  }
};

template <>
struct type_caster<at::Device> {
  PYBIND11_TYPE_CASTER(at::Device, const_name("torch.device"));
  type_caster() : value(at::kCPU) {}
  bool load(handle source, bool) {
    hotaru::Device device;
    if (!torch::detail::python_api().to_device(source.ptr(), &device))
      return false;
    value = at::Device(device);
    return true;
  }
  static handle cast(const at::Device& d, return_value_policy, handle) {
    return torch::detail::checked(
        torch::detail::python_api().device_object(c10::to_hotaru(d)));
  }
};

template <>
struct type_caster<at::ScalarType> {
  PYBIND11_TYPE_CASTER(at::ScalarType, const_name("torch.dtype"));
  type_caster() : value(at::kFloat) {}
  bool load(handle source, bool) {
    hotaru::DType dtype;
    if (!torch::detail::python_api().to_dtype(source.ptr(), &dtype))
      return false;
    value = c10::from_hotaru(dtype);
    return true;
  }
  static handle cast(at::ScalarType t, return_value_policy, handle) {
    return torch::detail::checked(
        torch::detail::python_api().dtype_object(c10::to_hotaru(t)));
  }
};

/// Layouts and memory formats.
template <class T>
struct numbered_caster {
  PYBIND11_TYPE_CASTER(T, const_name("torch.layout"));
  numbered_caster() : value(T()) {}
  bool load(handle source, bool) {
    int64_t number = 0;
    if (!torch::detail::python_api().to_number(source.ptr(), &number))
      return false;
    value = T(number);
    return true;
  }
  static handle cast(T v, return_value_policy, handle) {
    return torch::detail::checked(
        torch::detail::python_api().layout_object(int64_t(v)));
  }
};
template <>
struct type_caster<at::Layout> : numbered_caster<at::Layout> {};
template <>
struct type_caster<at::MemoryFormat> : numbered_caster<at::MemoryFormat> {};

template <class T, class Name>
struct value_caster {
  PYBIND11_TYPE_CASTER(T, Name::get());
  bool load(handle source, bool) {
    return torch::detail::load_value(source, &value);
  }
  static handle cast(const T& v, return_value_policy, handle) {
    return torch::detail::cast_value(v);
  }
};
struct NumberName {
  static constexpr auto get() { return const_name("Number"); }
};
struct GeneratorName {
  static constexpr auto get() { return const_name("torch.Generator"); }
};
struct AnyName {
  static constexpr auto get() { return const_name("Any"); }
};
template <>
struct type_caster<at::Scalar> : value_caster<at::Scalar, NumberName> {
  bool load(handle source, bool convert) {
    // Tensors of one element are numbers, too.
    if (THPVariable_Check(source.ptr())) {
      const at::Tensor t = THPVariable_Unpack(source.ptr());
      if (t.dim() != 0) return false;
      value = t.item();
      return true;
    }
    return value_caster::load(source, convert);
  }
};
template <>
struct type_caster<at::Generator> : value_caster<at::Generator, GeneratorName> {
};
template <>
struct type_caster<c10::IValue> : value_caster<c10::IValue, AnyName> {};

/// A list of numbers that the call keeps.
template <class T>
struct type_caster<at::ArrayRef<T>> {
  PYBIND11_TYPE_CASTER(at::ArrayRef<T>, const_name("list"));
  bool load(handle source, bool convert) {
    make_caster<std::vector<T>> items;
    if (!items.load(source, convert)) return false;
    kept = cast_op<std::vector<T>&&>(std::move(items));
    value = kept;
    return true;
  }
  static handle cast(at::ArrayRef<T> v, return_value_policy policy,
                     handle parent) {
    return make_caster<std::vector<T>>::cast(v.vec(), policy, parent);
  }
  std::vector<T> kept;
};

}  // namespace pybind11::detail
