#include "bindings/ops/dispatch.h"

#include <nanobind/stl/string.h>

#include "bindings/gil.h"
#include "bindings/graph/around_calls.h"
#include "bindings/ops/call_walk.h"
#include "bindings/ops/override.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/sparse/opaque.h"

namespace hotaru::python::dispatch {
namespace {

namespace nb = nanobind;

PyObject* protocol_name = nullptr;
/// Tensor's __torch_dispatch__, and that of classes that do not answer.
PyObject* disabled_implementation = nullptr;
/// hotaru._dispatch.answer; null until that is imported.
PyObject* answer = nullptr;
/// hotaru._dispatch.add, of gradients.
PyObject* add = nullptr;
int modes_anywhere = 0;  // under the GIL

struct Thread {
  bool off = false;
  int modes = 0;
};
thread_local Thread current;

Tensor sum(const Tensor& a, const Tensor& b) {
  const GilAcquire gil;
  return tensor_of(
      nb::handle(add)(nb::steal(wrap(a)), nb::steal(wrap(b))).ptr());
}

/// A tensor of a subclass that keeps its elements itself.
nb::object make_wrapper(nb::handle type, nb::handle size, nb::handle strides,
                        int64_t offset, nb::handle dtype, nb::handle device,
                        bool requires_grad) {
  const DType element = to_dtype(dtype.ptr());
  const Dims sizes = to_dims(size.ptr());
  const Dims steps =
      strides.is_none() ? contiguous_strides(sizes) : to_dims(strides.ptr());
  const size_t bytes = storage_bytes(sizes, steps, itemsize(element), offset);
  auto storage = make_ref<OpaqueStorage>(bytes, to_device(device.ptr()));
  Tensor made(make_ref<TensorImpl>(Ref<Storage>(std::move(storage)), element,
                                   sizes, steps, offset));
  if (requires_grad) autograd::set_requires_grad(made, true);
  return nb::steal(wrap_as(class_of(type), std::move(made)));
}

}  // namespace

bool answers(PyTypeObject* type) {
  if (type == tensor_type || !PyType_IsSubtype(type, tensor_type)) return false;
  PyObject* found = look_up(type, protocol_name);
  return found && found != disabled_implementation;
}

int modes() {
  return modes_anywhere;
}

bool applies(const Call& call) {
  if (current.off || !answer) return false;
  return current.modes > 0 || any_argument(call, [](PyObject* object) {
           return answers(answering_class(object));
         });
}

nb::object ask(nb::handle func, const nb::tuple& args,
               const nb::object& keywords) {
  return nb::handle(answer)(func, args, keywords);
}

void init_dispatch(nb::module_& m) {
  protocol_name = PyUnicode_InternFromString("__torch_dispatch__");
  m.def("_disabled_torch_dispatch_impl", [](nb::args, nb::kwargs) {
    nb::raise_type_error("__torch_dispatch__ is disabled");
  });
  const nb::object disabled = m.attr("_disabled_torch_dispatch_impl");
  m.attr("Tensor").attr("__torch_dispatch__") = disabled;
  // Object that the class has now, as look-ups find it.
  disabled_implementation = nb::object(disabled).release().ptr();
  m.def("_set_dispatch", [](nb::object asked, nb::object summed) {
    answer = asked.release().ptr();
    add = summed.release().ptr();
    set_opaque_sum(&sum);
  });
  m.def("_dispatches", [](nb::handle object) {
    return answers(answering_class(object.ptr()));
  });
  m.def("_dispatching_type", [](nb::handle type) {
    return PyType_Check(type.ptr()) &&
           answers(reinterpret_cast<PyTypeObject*>(type.ptr()));
  });
  m.def("_dispatch_applies", [](nb::args args) {
    return applies({tuple_items(args.ptr()), args.size(), nullptr});
  });
  m.def("_without_dispatch",
        [](bool value) { return std::exchange(current.off, value); });
  m.def("_in_dispatch_mode", [] { return current.modes > 0 && !current.off; });
  m.def("_count_dispatch_modes", [](int by) {
    current.modes += by;
    modes_anywhere += by;
    count_interposer(by);
    overrides::update_possible();
  });
  m.def("_wrapper_tensor", make_wrapper, nb::arg("type"), nb::arg("size"),
        nb::arg("strides").none(), nb::arg("offset"), nb::arg("dtype"),
        nb::arg("device"), nb::arg("requires_grad"));
}

}  // namespace hotaru::python::dispatch
