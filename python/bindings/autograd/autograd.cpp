#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>

#include "bindings/autograd/autograd_object.h"
#include "bindings/autograd/held.h"
#include "bindings/errors.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/engine/engine.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;
using autograd::Meta;
using autograd::Node;
using autograd::Tensors;

/// A node as Python sees it: x.grad_fn.
struct PyNode {
  Ref<Node> node;
};

nb::object node_object(const Ref<Node>& node) {
  if (!node) return nb::none();
  return nb::cast(PyNode{node});
}

nb::tuple tensor_tuple(const Tensors& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(nb::steal(wrap(t)));
  return nb::tuple(out);
}

Tensors tensor_vector(nb::handle sequence) {
  Tensors out;
  for (nb::handle item : sequence) out.push_back(nb::cast<Tensor>(item));
  return out;
}

/// A backward step written in Python.
class PythonNode final : public Node {
 public:
  PythonNode(std::string name, nb::object backward)
      : Node(std::move(name)), backward_(std::move(backward)) {}

  autograd::Tensors apply(autograd::Tensors grads) override {
    const nb::gil_scoped_acquire gil;
    const nb::object self = node_object(Ref<Node>(this));
    const nb::object result = backward_.get()(self, tensor_tuple(grads));
    return tensor_vector(result);
  }
  void release_saved() override {
    const nb::gil_scoped_acquire gil;
    backward_.get().attr("release")();
  }

 private:
  Held backward_;
};

nb::tuple make_python_node(const std::string& name, nb::object backward,
                           nb::sequence inputs, nb::sequence outputs,
                           const std::vector<bool>& differentiable,
                           const std::vector<bool>& dirty) {
  const auto node = make_ref<PythonNode>(name, std::move(backward));
  for (const Tensor& t : tensor_vector(inputs))
    node->add_edge(autograd::gradient_edge(t));
  const Tensors results = tensor_vector(outputs);
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor& t = results[i];
    if (!differentiable[i]) {
      node->add_output(t);
    } else if (dirty[i] && t.is_view()) {
      autograd::rebase_view(t, node);
    } else {
      autograd::set_history(t, node);
    }
  }
  return tensor_tuple(results);
}

Tensor attach(const PyNode& self, const Tensor& data, uint32_t index) {
  Tensor out = make_alias(data);
  Meta& m = autograd::ensure_meta(out);
  m.grad_fn = self.node;
  m.output_index = index;
  return out;
}

/// A removable hook: hooks return one of these to Python.
struct Handle {
  std::function<void()> remove;
};

Meta::Hook tensor_hook(nb::object function) {
  auto held = std::make_shared<Held>(std::move(function));
  return [held](const Tensor& grad) -> Tensor {
    const nb::gil_scoped_acquire gil;
    const nb::object result = held->get()(nb::steal(wrap(grad)));
    HOTARU_CHECK_AS(TypeError, result.is_none() || is_tensor(result.ptr()),
                    "expected Variable, but hook returned '",
                    Py_TYPE(result.ptr())->tp_name, "'");
    return result.is_none() ? Tensor() : tensor_of(result.ptr());
  };
}

Handle register_hook(const Tensor& self, nb::object function) {
  const int64_t id = autograd::register_hook(self, tensor_hook(function));
  return {[self, id] { autograd::remove_hook(self, id); }};
}

Handle register_post_accumulate(const Tensor& self, nb::object function) {
  HOTARU_CHECK(autograd::requires_grad(self),
               "cannot register a hook on a tensor that doesn't require "
               "gradient");
  HOTARU_CHECK(autograd::is_leaf(self),
               "post accumulate grad hooks cannot be registered on non-leaf "
               "tensors");
  auto held = std::make_shared<Held>(std::move(function));
  Meta& m = autograd::ensure_meta(self);
  const int64_t id = -1 - int64_t(m.post_accumulate_hooks.size());
  m.post_accumulate_hooks.emplace_back(id, [held](const Tensor& t) {
    const nb::gil_scoped_acquire gil;
    held->get()(nb::steal(wrap(t)));
  });
  return {[self, id] {
    std::erase_if(autograd::ensure_meta(self).post_accumulate_hooks,
                  [id](const auto& hook) { return hook.first == id; });
  }};
}

Handle register_node_hook(PyNode& self, nb::object function) {
  auto held = std::make_shared<Held>(std::move(function));
  const int64_t id = self.node->add_post_hook(
      [held](autograd::Tensors& inputs, const autograd::Tensors& grads) {
        const nb::gil_scoped_acquire gil;
        const nb::object result =
            held->get()(tensor_tuple(inputs), tensor_tuple(grads));
        if (!result.is_none()) inputs = tensor_vector(result);
      });
  return {[node = self.node, id] { node->remove_hook(id); }};
}

Handle register_node_prehook(PyNode& self, nb::object function) {
  auto held = std::make_shared<Held>(std::move(function));
  const int64_t id = self.node->add_pre_hook([held](autograd::Tensors& grads) {
    const nb::gil_scoped_acquire gil;
    const nb::object result = held->get()(tensor_tuple(grads));
    if (!result.is_none()) grads = tensor_vector(result);
  });
  return {[node = self.node, id] { node->remove_hook(id); }};
}

nb::object run_backward(nb::sequence outputs, nb::sequence grads,
                        bool retain_graph, bool create_graph,
                        nb::sequence inputs, bool allow_unused,
                        bool accumulate) {
  const Tensors roots = tensor_vector(outputs), given = tensor_vector(grads);
  const Tensors wanted = tensor_vector(inputs);
  const autograd::BackwardOptions options{retain_graph, create_graph};
  if (accumulate) {
    autograd::backward(roots, given, wanted, options);
    return nb::none();
  }
  return tensor_tuple(
      autograd::grad(roots, wanted, given, options, allow_unused));
}

void init_node(nb::module_& m) {
  nb::class_<PyNode>(m, "Node", "A step of the backward pass.")
      .def("name", [](const PyNode& n) { return n.node->name(); })
      .def("__repr__",
           [](const PyNode& n) {
             return concat("<", n.node->name(), " object at ", n.node.get(),
                           ">");
           })
      .def("__eq__",
           [](const PyNode& a, nb::handle b) {
             return nb::isinstance<PyNode>(b) &&
                    a.node == nb::cast<PyNode&>(b).node;
           })
      .def("__hash__",
           [](const PyNode& n) {
             return reinterpret_cast<uintptr_t>(n.node.get()) >> 4;
           })
      .def_prop_ro(
          "next_functions",
          [](const PyNode& n) {
            nb::list out;
            for (const auto& edge : n.node->edges())
              out.append(nb::make_tuple(node_object(edge.node), edge.index));
            return nb::tuple(out);
          })
      .def_prop_ro("variable",
                   [](const PyNode& n) -> nb::object {
                     auto* leaf =
                         dynamic_cast<autograd::AccumulateGrad*>(n.node.get());
                     if (!leaf) throw nb::attribute_error("variable");
                     return nb::steal(wrap(leaf->variable()));
                   })
      .def("attach", &attach)
      .def("register_hook", &register_node_hook)
      .def("register_prehook", &register_node_prehook);
  nb::class_<Handle>(m, "_HookHandle", "Takes a hook away again.")
      .def("remove", [](Handle& h) {
        if (auto remove = std::exchange(h.remove, nullptr)) remove();
      });
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
    return node_object(autograd::grad_fn(tensor_of(self))).release().ptr();
  });
}

PyObject* get_is_leaf(PyObject* self, void*) {
  return PyBool_FromLong(autograd::is_leaf(tensor_of(self)));
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
  init_node(m);
  m.def("_run_backward", &run_backward);
  m.def("_make_python_node", &make_python_node);
  m.def("_register_hook", &register_hook);
  m.def("_register_post_accumulate_grad_hook", &register_post_accumulate);
  m.def("_retain_grad", &autograd::retain_grad);
  m.def("is_grad_enabled", &autograd::grad_enabled);
  m.def("_set_grad_enabled", &autograd::set_grad_enabled);
  m.def("is_inference_mode_enabled", &autograd::inference_mode);
  m.def("_set_inference_mode", &autograd::set_inference_mode);
}

}  // namespace hotaru::python
