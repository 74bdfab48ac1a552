#include "bindings/autograd/node_object.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/autograd/collect.h"
#include "bindings/autograd/hook_object.h"
#include "bindings/gil.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"

namespace hotaru::python {

namespace nb = nanobind;
using autograd::Node;
using autograd::Tensors;

nb::object node_object(const Ref<Node>& node) {
  if (!node) return nb::none();
  if (void* known = node->python_object)
    return nb::borrow(static_cast<PyObject*>(known));
  nb::object made = nb::cast(PyNode(node));
  node->python_object = made.ptr();
  return made;
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

Tensors PythonNode::apply(Tensors grads) {
  const GilAcquire gil;
  const nb::object backward = backward_.get();
  HOTARU_CHECK(backward.is_valid(), name(),
               ": the garbage collector has freed what it needs");
  const nb::object self = node_object(Ref<Node>(this));
  return tensor_vector(backward(self, tensor_tuple(grads)));
}

void PythonNode::release_saved() {
  const GilAcquire gil;
  if (const nb::object backward = backward_.get(); backward.is_valid())
    backward.attr("release")();
}

namespace {

/// PyTorch's errors for a forward that wrote into this input.
void check_dirty(const Tensor& t, size_t outputs) {
  HOTARU_CHECK(
      t.is_view() || !autograd::requires_grad(t) || !autograd::is_leaf(t),
      "a leaf Variable that requires grad has been used in an "
      "in-place operation.");
  autograd::check_inplace(t);
  HOTARU_CHECK(
      outputs == 1 || !autograd::writes_base(t),
      "If your Function modifies inplace an input that is a view of another "
      "Tensor, your Function cannot return more than one Tensor. This is not "
      "supported by the current autograd engine. You should either make sure "
      "the input is not a view (using .clone() for example) or make your "
      "Function only return one Tensor (potentially splitting it into two "
      "Functions: one doing the inplace that returns a single Tensor and a "
      "second one that does the other operations). You can ask on the forum "
      "https://discuss.pytorch.org/ if you need help to do this change.");
}

nb::tuple make_python_node(const std::string& name, nb::object backward,
                           nb::sequence inputs, nb::sequence outputs,
                           const std::vector<bool>& differentiable,
                           const std::vector<bool>& dirty) {
  const Tensors given = tensor_vector(inputs), results = tensor_vector(outputs);
  const auto place = [&given](const Tensor& t) {
    size_t i = 0;
    while (i < given.size() && !given[i].is_same(t)) ++i;
    return i;
  };
  for (size_t i = 0; i < results.size(); ++i)
    if (dirty[i]) check_dirty(results[i], results.size());
  const auto node = make_ref<PythonNode>(name, std::move(backward));
  for (const Tensor& t : given) node->add_edge(autograd::gradient_edge(t));
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor& t = results[i];
    const size_t slot = dirty[i] ? place(t) : given.size();
    if (!differentiable[i])
      node->add_output(t);
    else if (slot < given.size() && autograd::writes_base(t))
      autograd::rebase_view(t, node, slot);
    else
      autograd::set_history(t, node);
    track(t);
  }
  return tensor_tuple(results);
}

Tensor attach(const PyNode& self, const Tensor& data, uint32_t index) {
  Tensor out = make_alias(data);
  autograd::Meta& m = autograd::ensure_meta(out);
  m.grad_fn = self.node;
  m.output_index = index;
  return out;
}

nb::tuple next_functions(const PyNode& self) {
  nb::list out;
  for (const auto& edge : self.node->edges())
    out.append(nb::make_tuple(node_object(edge.node), edge.index));
  return nb::tuple(out);
}

Tensor leaf_of(const PyNode& self) {
  auto* leaf = dynamic_cast<autograd::AccumulateGrad*>(self.node.get());
  if (!leaf) throw nb::attribute_error("variable");
  return leaf->variable();
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return visit_node(nb::inst_ptr<PyNode>(self)->node, visit, arg);
}

int clear(PyObject* self) {
  clear_node(nb::inst_ptr<PyNode>(self)->node);
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

void init_nodes(nb::module_& m) {
  nb::class_<PyNode>(m, "Node", nb::type_slots(slots),
                     "A step of the backward pass.")
      .def("name", [](const PyNode& n) { return n.node->name(); })
      .def("__repr__",
           [](const PyNode& n) {
             return concat("<", n.node->name(), " object at ", n.node.get(),
                           ">");
           })
      .def_prop_ro("next_functions", &next_functions)
      .def_prop_ro("variable", &leaf_of)
      .def("attach", &attach)
      .def("register_hook", &register_node_hook)
      .def("register_prehook", &register_node_prehook);
  m.def("_make_python_node", &make_python_node);
}

}  // namespace hotaru::python
