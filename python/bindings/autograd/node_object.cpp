#include "bindings/autograd/node_object.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/autograd/collect.h"
#include "bindings/autograd/hook_object.h"
#include "bindings/autograd/notes.h"
#include "bindings/autograd/saved_object.h"
#include "bindings/gil.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/autograd/creation_hooks.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::python {

namespace nb = nanobind;
using autograd::Node;
using autograd::Tensors;

Node& PyNode::get() const {
  HOTARU_CHECK(node_,
               "the node of this autograd function does not exist: nothing was "
               "recorded, or the graph is gone");
  return *node_;
}

nb::object node_class(const std::string& name) {
  static auto* classes = new nb::dict();
  const std::string short_name = name.substr(name.rfind(':') + 1);
  const nb::str key(short_name.c_str());
  if (classes->contains(key)) return (*classes)[key];
  const nb::handle base = nb::type<PyNode>();
  nb::dict members;
  members["__module__"] = "builtins";
  nb::object made = base.type()(key, nb::make_tuple(base), std::move(members));
  (*classes)[key] = made;
  return made;
}

nb::object node_object(const Ref<Node>& node) {
  if (!node) return nb::none();
  if (void* known = node->python_object)
    return nb::borrow(static_cast<PyObject*>(known));
  const nb::object type = node_class(node->name());
  nb::object made = nb::inst_alloc(type);
  new (nb::inst_ptr<PyNode>(made)) PyNode(node);
  nb::inst_mark_ready(made);
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

PythonNode::PythonNode(std::string name, nb::object context)
    : SavingNode(std::move(name)), context_(std::move(context)) {
  nb::inst_ptr<PyFunctionNode>(context_.get())->bind(this);
  python_object = context_.get().ptr();
}

PythonNode::~PythonNode() {
  with_interpreter([this] { forget(); });
}

void PythonNode::forget() {
  if (PyObject* object = context())
    nb::inst_ptr<PyFunctionNode>(object)->bind(nullptr);
  python_object = nullptr;
  context_.clear();
}

bool PythonNode::outlives() {
  bool owned = false;
  with_interpreter([&] {
    PyObject* object = context();
    if (!object || references(object) == 1) return;
    nb::inst_ptr<PyFunctionNode>(object)->own(Ref<Node>(this));
    context_.clear();
    owned = true;
  });
  return owned;
}

Tensors PythonNode::apply(Tensors grads) {
  const GilAcquire gil;
  const nb::object context = nb::borrow(static_cast<PyObject*>(python_object));
  HOTARU_CHECK(context.is_valid(), name(),
               ": the garbage collector has freed what it needs");
  return tensor_vector(context.attr("_run")(tensor_tuple(grads)));
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

std::optional<DType> optional_dtype(nb::handle dtype) {
  return dtype.is_none() ? std::nullopt : std::optional(to_dtype(dtype.ptr()));
}

/// The outputs of a node that is not there yet, which becomes their history.
nb::tuple make_python_node(const std::string& name, nb::object context,
                           nb::sequence inputs, nb::sequence outputs,
                           const std::vector<bool>& differentiable,
                           const std::vector<bool>& dirty, nb::sequence saved,
                           nb::handle grad_dtypes) {
  autograd::check_creation(name.c_str());
  const Tensors given = tensor_vector(inputs), results = tensor_vector(outputs);
  const Tensors kept = tensor_vector(saved);
  const auto place = [](const Tensors& among, const Tensor& t) {
    size_t i = 0;
    while (i < among.size() && !among[i].is_same(t)) ++i;
    return i;
  };
  for (size_t i = 0; i < results.size(); ++i)
    if (dirty[i]) check_dirty(results[i], results.size());
  const auto node = make_ref<PythonNode>(name, std::move(context));
  bool hidden = false;
  for (const Tensor& t : given) node->add_edge(autograd::gradient_edge(t));
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor& t = results[i];
    if (!t.defined()) {
      node->skip_output();
      continue;
    }
    const size_t slot = dirty[i] ? place(given, t) : given.size();
    // A forward records nothing: a view of what only it knew is none any more.
    if (!differentiable[i])
      node->add_output(t);
    else if (autograd::writes_base(t) && slot < given.size())
      autograd::rebase_view(t, node, slot), hidden = true;
    else
      autograd::set_history(t, node);
    track(t);
  }
  for (const Tensor& t : kept) {
    const bool output = t.defined() && place(results, t) < results.size();
    node->saved.emplace_back(t, output, t.defined() ? t.version() : 0);
  }
  if (!grad_dtypes.is_none()) {
    uint32_t place = 0;
    for (nb::handle dtype : grad_dtypes)
      node->set_grad_dtype(place++, optional_dtype(dtype));
  }
  if (!hidden) autograd::tell_creation(node);
  return tensor_tuple(results);
}

/// A view that a function gave must not be written: that would leave out its
/// gradient.
void mark_view(const Tensor& t, bool one_of_many) {
  if (!t.is_view()) return;
  autograd::Meta& m = autograd::ensure_meta(t);
  m.origin = one_of_many ? autograd::ViewOrigin::kOneOfMany
                         : autograd::ViewOrigin::kFunction;
  m.view_version = t.version();
}

nb::tuple next_functions(const PyNode& self) {
  nb::list out;
  for (const auto& edge : self.get().edges())
    out.append(nb::make_tuple(node_object(edge.node), edge.index));
  return nb::tuple(out);
}

Tensor leaf_of(const PyNode& self) {
  auto* leaf = dynamic_cast<autograd::AccumulateGrad*>(&self.get());
  if (!leaf) throw nb::attribute_error("variable");
  return leaf->variable();
}

/// node(grad, ...): the gradients of its inputs; one alone as it is.
nb::object call(const PyNode& self, nb::args arguments) {
  Node& node = self.get();
  HOTARU_CHECK_AS(TypeError, arguments.size() == node.outputs().size(),
                  "expected ", node.outputs().size(), " arguments, got ",
                  arguments.size(), " instead");
  Tensors grads;
  for (size_t i = 0; i < arguments.size(); ++i) {
    HOTARU_CHECK_AS(TypeError,
                    arguments[i].is_none() || is_tensor(arguments[i].ptr()),
                    "expected Variable argument ", i, ", got ",
                    class_name(nb::object(arguments[i]).ptr()));
    grads.push_back(nb::cast<Tensor>(arguments[i]));
  }
  Tensors inputs = node.apply(std::move(grads));
  inputs.resize(node.edges().size());
  if (inputs.size() == 1) return nb::steal(wrap(inputs[0]));
  return tensor_tuple(inputs);
}

struct InputMetadata {
  autograd::OutputInfo info;
};

nb::tuple input_metadata(const PyNode& self) {
  nb::list out;
  for (const autograd::OutputInfo& info : self.get().outputs())
    out.append(nb::cast(InputMetadata{info}));
  return nb::tuple(out);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return visit_node(nb::inst_ptr<PyNode>(self)->owned(), visit, arg);
}

int clear(PyObject* self) {
  clear_node(nb::inst_ptr<PyNode>(self)->owned());
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

void init_nodes(nb::module_& m) {
  nb::class_<InputMetadata>(m, "_InputMetadata",
                            "What a node knows of an output of its forward.")
      .def_prop_ro(
          "shape",
          [](const InputMetadata& i) { return size_object(i.info.sizes); })
      .def_prop_ro(
          "dtype",
          [](const InputMetadata& i) { return dtype_object(i.info.dtype); })
      .def_prop_ro(
          "device",
          [](const InputMetadata& i) { return device_object(i.info.device); })
      .def_prop_ro("is_nested_tensor",
                   [](const InputMetadata&) { return false; })
      .def_prop_ro("is_cpp_nested_tensor",
                   [](const InputMetadata&) { return false; });
  nb::class_<PyNode>(m, "_Node", nb::type_slots(slots), nb::dynamic_attr(),
                     nb::is_weak_referenceable(),
                     "A step of the backward pass.")
      .def("name", [](const PyNode& n) { return n.get().name(); })
      .def("__repr__",
           [](nb::handle self) {
             return concat("<", class_name(self.ptr()), " object at ",
                           static_cast<void*>(self.ptr()), ">");
           })
      .def("__call__", &call)
      .def("__getattr__", &saved_attribute)
      .def("_sequence_nr", [](const PyNode& n) { return n.get().sequence(); })
      .def("_set_sequence_nr",
           [](const PyNode& n, uint64_t number) {
             n.get().set_sequence(number);
           })
      .def_prop_ro("metadata", &metadata_of)
      .def_prop_ro("requires_grad", [](const PyNode&) { return true; })
      .def_prop_ro("_input_metadata", &input_metadata)
      .def_prop_ro("next_functions", &next_functions)
      .def_prop_ro("variable", &leaf_of)
      .def("register_hook", &register_node_hook)
      .def("register_prehook", &register_node_prehook);
  nb::class_<PyFunctionNode, PyNode>(m, "_FunctionBase", nb::dynamic_attr(),
                                     nb::is_weak_referenceable(),
                                     "A step written in Python.")
      .def(nb::init<>())
      .def_prop_ro("_recorded", &PyFunctionNode::bound)
      .def_prop_ro("_saved", &saved_values)
      .def_prop_ro("_raw_saved_tensors", &saved_objects)
      .def("_release", [](const PyFunctionNode& f) {
        static_cast<PythonNode&>(f.get()).release_saved();
      });
  m.def("_make_python_node", &make_python_node, nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("_mark_view", &mark_view);
  m.def("_node_class", &node_class);
}

}  // namespace hotaru::python
