#include "bindings/exchange/cpp_api.h"

#include "bindings/errors.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/error.h"
#include "hotaru/exchange/python_api.h"

namespace hotaru::python {

namespace nb = nanobind;

namespace {

/// Runs f, which sets what it gives; false where it throws.
template <class F>
bool converted(const F& f) {
  try {
    f();
    return true;
  } catch (const nb::python_error&) {
    return false;  // which clears Python's error
  } catch (const Error&) {
    return false;
  }
}

exchange::PythonApi made_api() {
  exchange::PythonApi api{};
  api.version = exchange::PythonApi::kVersion;
  api.wrap = [](const Tensor& t) { return guarded([&] { return wrap(t); }); };
  api.unwrap = [](PyObject* object, Tensor* out) {
    if (object == Py_None) return *out = Tensor(), true;
    if (!is_tensor(object)) return false;
    *out = tensor_of(object);
    return true;
  };
  api.device_object = [](Device device) {
    return guarded([&] { return device_object(device).release().ptr(); });
  };
  api.to_device = [](PyObject* object, Device* out) {
    return converted([&] { *out = to_device(object); });
  };
  api.dtype_object = [](DType dtype) {
    return guarded([&] { return dtype_object(dtype).release().ptr(); });
  };
  api.to_dtype = [](PyObject* object, DType* out) {
    if (!is_dtype(object)) return false;
    return converted([&] { *out = to_dtype(object); });
  };
  api.value_object = [](const Value& value) {
    return guarded([&] { return to_python(value); });
  };
  api.to_value = [](PyObject* object, Value* out) {
    return converted([&] { *out = to_value(object); });
  };
  api.to_number = [](PyObject* object, int64_t* out) {
    const nb::handle given(object);
    if (nb::isinstance<PyLayout>(given))
      return *out = nb::cast<PyLayout>(given).number, true;
    if (nb::isinstance<PyMemoryFormat>(given))
      return *out = nb::cast<PyMemoryFormat>(given).number, true;
    return false;
  };
  api.layout_object = [](int64_t number) {
    return guarded([&] { return layout_object(number).release().ptr(); });
  };
  api.tensor_class = reinterpret_cast<PyObject*>(tensor_type);
  return api;
}

}  // namespace

void init_cpp_api(nb::module_& m) {
  static const exchange::PythonApi api = made_api();
  m.attr("_cpp_api") = nb::capsule(&api, exchange::PythonApi::kCapsule);
}

}  // namespace hotaru::python
