#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/autograd/autograd_object.h"
#include "bindings/autograd/collect.h"
#include "bindings/autograd/hook_object.h"
#include "bindings/autograd/node_object.h"
#include "bindings/errors.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/engine/engine.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;
using autograd::Meta;
using autograd::Tensors;

nb::object run_backward(nb::sequence outputs, nb::sequence grads,
                        bool retain_graph, bool create_graph,
                        nb::sequence inputs, bool allow_unused, bool accumulate,
                        bool input_hooks) {
  const Tensors roots = tensor_vector(outputs), given = tensor_vector(grads);
  const Tensors wanted = tensor_vector(inputs);
  const autograd::BackwardOptions options{retain_graph, create_graph,
                                          input_hooks};
  if (accumulate) {
    autograd::backward(roots, given, wanted, options);
    return nb::none();
  }
  return tensor_tuple(
      autograd::grad(roots, wanted, given, options, allow_unused));
}

}  // namespace

PyObject* get_requires_grad(PyObject* self, void*) {
  return PyBool_FromLong(autograd::requires_grad(tensor_of(self)));
}

int set_requires_grad_attr(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        HOTARU_CHECK(value && PyBool_Check(value),
                     "requires_grad must be a bool");
        autograd::set_requires_grad(tensor_of(self), value == Py_True);
        track(self);
        return 0;
      },
      -1);
}

PyObject* get_grad(PyObject* self, void*) {
  const Meta* m = autograd::meta(tensor_of(self));
  return wrap(m ? m->grad : Tensor());
}

int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        const Tensor& t = tensor_of(self);
        if (!value || value == Py_None) {
          if (Meta* m = autograd::meta(t)) m->grad = Tensor();
          return 0;
        }
        HOTARU_CHECK_AS(TypeError, is_tensor(value),
                        "assigned grad expected to be a Tensor or None but got "
                        "grad of type ",
                        Py_TYPE(value)->tp_name);
        const Tensor& grad = tensor_of(value);
        HOTARU_CHECK(!grad.is_same(t), "can't assign Variable as its own grad");
        HOTARU_CHECK(same(grad.sizes(), t.sizes()),
                     "attempting to assign a gradient of size '",
                     shape_text(grad.sizes()), "' to a tensor of size '",
                     shape_text(t.sizes()),
                     "'. Please ensure that the gradient and the tensor are "
                     "the same size");
        HOTARU_CHECK(grad.dtype() == t.dtype(),
                     "attempting to assign a gradient with dtype '",
                     grad.dtype(), "' to a tensor with dtype '", t.dtype(),
                     "'");
        autograd::ensure_meta(t).grad = grad;
        return 0;
      },
      -1);
}

PyObject* get_grad_fn(PyObject* self, void*) {
  return guarded([&] {
    track(self);
    return node_object(autograd::grad_fn(tensor_of(self))).release().ptr();
  });
}

PyObject* get_is_leaf(PyObject* self, void*) {
  return guarded(
      [&] { return PyBool_FromLong(autograd::is_leaf(tensor_of(self))); });
}

PyObject* get_retains_grad(PyObject* self, void*) {
  const Meta* m = autograd::meta(tensor_of(self));
  return PyBool_FromLong(m && m->retains_grad);
}

PyObject* get_output_nr(PyObject* self, void*) {
  const Meta* m = autograd::meta(tensor_of(self));
  return PyLong_FromLong(m ? long(m->output_index) : 0);
}

PyObject* get_base(PyObject* self, void*) {
  return wrap(Tensor(tensor_of(self).impl()->base));
}

void init_autograd(nb::module_& m) {
  init_nodes(m);
  init_hooks(m);
  init_forward(m);
  m.def("_run_backward", &run_backward, nb::arg("outputs"), nb::arg("grads"),
        nb::arg("retain_graph"), nb::arg("create_graph"), nb::arg("inputs"),
        nb::arg("allow_unused"), nb::arg("accumulate"),
        nb::arg("input_hooks") = true);
  m.def("_retain_grad", &autograd::retain_grad);
  m.def("is_grad_enabled", &autograd::grad_enabled);
  m.def("_set_grad_enabled", &autograd::set_grad_enabled);
  m.def("is_inference_mode_enabled", &autograd::inference_mode);
  m.def("_set_inference_mode", &autograd::set_inference_mode);
}

}  // namespace hotaru::python
