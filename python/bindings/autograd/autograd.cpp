#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <thread>

#include "bindings/autograd/autograd_object.h"
#include "bindings/autograd/collect.h"
#include "bindings/autograd/functions.h"
#include "bindings/autograd/held.h"
#include "bindings/autograd/hook_object.h"
#include "bindings/autograd/node_object.h"
#include "bindings/autograd/notes.h"
#include "bindings/autograd/saved_object.h"
#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/ops/override.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/autograd/creation_hooks.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/engine/engine.h"
#include "hotaru/engine/pass.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;
using autograd::Meta;
using autograd::Node;
using autograd::Pass;
using autograd::Tensors;
using Edges = std::vector<autograd::Edge>;

/// An edge of torch.autograd.graph.GradientEdge, or of a tensor by `edge_of`.
template <class F>
autograd::Edge edge_of(nb::handle place, F edge_of_tensor) {
  if (is_tensor(place.ptr())) return edge_of_tensor(tensor_of(place.ptr()));
  HOTARU_CHECK(nb::hasattr(place, "node"),
               "all inputs have to be Tensors or GradientEdges, but got ",
               class_name(place.ptr()));
  const nb::object node = place.attr("node");
  return {Ref<Node>(&nb::cast<PyNode&>(node).get()),
          nb::cast<uint32_t>(place.attr("output_nr"))};
}

Edges output_edges(nb::sequence outputs) {
  Edges edges;
  for (nb::handle output : outputs)
    edges.push_back(edge_of(output, [&](const Tensor& t) {
      autograd::Edge edge = autograd::gradient_edge(t);
      HOTARU_CHECK(edge.node, "element ", edges.size(),
                   " of tensors does not require grad and does not have a "
                   "grad_fn");
      return edge;
    }));
  return edges;
}

Edges input_edges(nb::sequence inputs) {
  Edges edges;
  for (nb::handle input : inputs)
    edges.push_back(edge_of(
        input, [](const Tensor& t) { return autograd::input_edges({t})[0]; }));
  return edges;
}

/// Modes that a thread has to know to run a pass for another one.
struct Modes {
  bool grad = autograd::grad_enabled();
  bool inference = autograd::inference_mode();
  void apply() const {
    autograd::set_grad_enabled(grad);
    autograd::set_inference_mode(inference);
  }
};

// Passes within passes that one thread runs, of its own or others' stack.
constexpr int kDeepest = 60;
thread_local int depth = 0;

struct Deeper {
  Deeper() { ++depth; }
  ~Deeper() { --depth; }
};

/// Runs f in this thread; in one of its own, with a new stack, if passes are
/// too deep within each other.
template <class F>
void run_nested(F f) {
  const Deeper deeper;
  if (depth <= kDeepest) return f();
  std::exception_ptr error;
  const Modes modes;
  std::thread thread([&] {
    modes.apply();
    try {
      const GilAcquire gil;
      const Deeper first;
      f();
    } catch (...) {
      error = std::current_exception();
    }
  });
  {
    const nb::gil_scoped_release release;
    thread.join();
  }
  if (error) std::rethrow_exception(error);
}

nb::object run_backward(nb::sequence outputs, nb::sequence grads,
                        bool retain_graph, bool create_graph,
                        nb::sequence inputs, bool allow_unused, bool accumulate,
                        bool input_hooks) {
  if (overrides::possible) [[unlikely]]
    for (nb::handle output : outputs)
      overrides::note_question("backward", output.ptr());
  const Edges roots = output_edges(outputs);
  const Tensors given = tensor_vector(grads);
  static constinit OnceWarning cycle{
      "Using backward() with create_graph=True will create a reference cycle "
      "between the parameter and its gradient which can cause a memory leak. "
      "We "
      "recommend using autograd.grad when creating the graph to avoid this. If "
      "you have to use this function, make sure to reset the .grad fields of "
      "your parameters to None after use to break the cycle and avoid the "
      "leak."};
  if (accumulate && create_graph) cycle.give();
  if (accumulate)
    for (nb::handle input : inputs)
      if (is_tensor(input.ptr()) && !autograd::is_leaf(tensor_of(input.ptr())))
        autograd::retain_grad(tensor_of(input.ptr()));
  const Edges wanted = input_edges(inputs);
  const autograd::BackwardOptions options{retain_graph, create_graph,
                                          input_hooks};
  Tensors result;
  const KeepDefaultHooks keep;
  run_nested([&] {
    if (accumulate)
      autograd::backward(roots, given, wanted, options);
    else
      result = autograd::grad(roots, wanted, given, options, allow_unused);
  });
  return accumulate ? nb::none() : nb::object(tensor_tuple(result));
}

Pass& current_pass(const char* function) {
  Pass* pass = Pass::current();
  HOTARU_CHECK(pass, function,
               " should only be called during the backward pass");
  return *pass;
}

void queue_callback(nb::object function) {
  Pass* pass = Pass::current();
  HOTARU_CHECK(pass,
               "Final callbacks can only be installed during backward pass.");
  pass->add_callback([held = std::make_shared<Held>(std::move(function))] {
    const GilAcquire gil;
    held->get()();
  });
}

// Passes never use further threads; what was asked for can be asked.
thread_local bool multithreading = true;

nb::list execution_order() {
  nb::list out;
  current_pass("_current_graph_task_execution_order");
  HOTARU_CHECK(!multithreading,
               "_current_graph_task_execution_order expects the current "
               "backward to be executed with multithreading disabled, e.g. by "
               "running:\n\nwith torch.autograd.set_multithreading_enabled("
               "False):\n    ...\n");
  for (const auto& node :
       current_pass("_current_graph_task_execution_order").order_ahead())
    out.append(node_object(node));
  return out;
}

bool will_execute(nb::object node) {
  HOTARU_CHECK(nb::isinstance<PyNode>(node),
               "_will_engine_execute_node expects an grad_fn, but got ",
               class_name(node.ptr()));
  const Pass& pass = current_pass("_get_should_execute_nodes");
  return pass.executes(&nb::cast<PyNode&>(node).get());
}

void increment_version(nb::iterable tensors) {
  for (nb::handle item : tensors) {
    HOTARU_CHECK(is_tensor(item.ptr()),
                 "increment_version expect a Iterable[Tensor] as input");
    tensor_of(item.ptr()).bump_version();
  }
}

/// Witness of a tensor's life, for whoever doesn't keep it alive.
struct WeakTensor {
  std::weak_ptr<void> life;
  explicit WeakTensor(const Tensor& t) {
    auto& life_of_tensor = autograd::ensure_meta(t).life;
    if (!life_of_tensor) life_of_tensor = std::make_shared<char>();
    life = life_of_tensor;
  }
};

/// Keeps a node alive for Python, whoever its object is.
struct NodeOwner {
  Ref<Node> node;
};

/// (object of the node, output, owner) where the tensor's gradient is due.
nb::tuple gradient_edge_of(const Tensor& t) {
  HOTARU_CHECK(autograd::requires_grad(t),
               "It is not possible to get the gradient edge for a Tensor that "
               "does not require gradients");
  const autograd::Edge edge = autograd::gradient_edge(t);
  return nb::make_tuple(node_object(edge.node), edge.index,
                        nb::cast(NodeOwner{edge.node}));
}

// The Python function that hears of writes; one at a time in each thread.
thread_local Held write_listener{nb::object()};

void tell_write(const Tensor& self) {
  const GilAcquire gil;
  const nb::object listener = write_listener.get();
  listener(nb::steal(wrap(self)));
}

/// The listener before it.
nb::object set_write_listener(nb::object listener) {
  nb::object before = write_listener.get();
  const bool none = listener.is_none();
  write_listener.reset(none ? nb::object() : std::move(listener));
  autograd::set_write_listener(none ? nullptr : &tell_write);
  return before.is_valid() ? before : nb::none();
}

void init_passes(nb::module_& m, nb::module_& inner) {
  nb::class_<NodeOwner>(m, "_NodeOwner", "Keeps a node alive.");
  nb::class_<WeakTensor>(m, "_WeakTensorRef", "Whether a tensor lives.")
      .def(nb::init<const Tensor&>())
      .def("expired", [](const WeakTensor& w) { return w.life.expired(); });
  m.def("_gradient_edge", &gradient_edge_of);
  m.def("_queue_callback", &queue_callback);
  m.def("_current_graph_task_id", [] {
    const Pass* pass = Pass::current();
    return pass ? pass->id() : int64_t(-1);
  });
  m.def("_current_graph_task_execution_order", &execution_order);
  m.def("_will_engine_execute_node", &will_execute, nb::arg("node").none());
  inner.def("_get_current_graph_task_keep_graph", [] {
    const Pass* pass = Pass::current();
    return !pass || pass->options().retain_graph;
  });
  m.def("_current_autograd_node",
        [] { return node_object(Ref<Node>(autograd::running_node())); });
  m.def("_is_multithreading_enabled", [] { return multithreading; });
  m.def("_set_multithreading_enabled",
        [](bool enabled) { multithreading = enabled; });
  m.def("_increment_version", &increment_version);
  m.def("_set_leaf_level", &autograd::set_leaf_level);
  m.def("_reaches_below", &autograd::reaches_below);
  m.def("_set_write_listener", &set_write_listener, nb::arg().none());
}

}  // namespace

void push_creation_hook(nb::callable hook) {
  const auto held = std::make_shared<Held>(std::move(hook));
  autograd::push_creation_hook([held](const Ref<autograd::Node>& node) {
    const GilAcquire gil;
    held->get()(node_object(node));
  });
}

constexpr std::string_view kNoLeaf =
    "The .grad attribute of a Tensor that is not a leaf Tensor is being "
    "accessed. Its .grad attribute won't be populated during "
    "autograd.backward(). If you indeed want the .grad field to be populated "
    "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf "
    "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more "
    "information.";

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
  const Tensor& t = tensor_of(self);
  const Meta* m = autograd::meta(t);
  if (!m || m->grad.defined() || m->retains_grad || !m->grad_fn) [[likely]]
    return wrap(m ? m->grad : Tensor());
  return guarded([&] {
    if (!autograd::is_leaf(t)) warn(kNoLeaf);
    return wrap(Tensor());
  });
}

int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        const Tensor& t = tensor_of(self);
        if (!value || value == Py_None) {
          Meta* m = autograd::meta(t);
          if (m && m->grad.defined()) m->grad = Tensor();
          return 0;
        }
        HOTARU_CHECK_AS(TypeError, is_tensor(value),
                        "assigned grad expected to be a Tensor or None but got "
                        "grad of type ",
                        class_name(value));
        const Tensor& grad = tensor_of(value);
        HOTARU_CHECK(!grad.is_same(t), "can't assign Variable as its own grad");
        HOTARU_CHECK(same(grad.sizes(), t.sizes()),
                     "attempting to assign a gradient of size '",
                     shape_text(grad.sizes()), "' to a tensor of size '",
                     shape_text(t.sizes()),
                     "'. Please ensure that the gradient and the tensor are "
                     "the same size");
        HOTARU_CHECK(grad.device() == t.device(),
                     "attempting to assign a gradient with device type '",
                     grad.device(), "' to a tensor with device type '",
                     t.device(),
                     "'. Please ensure that the gradient and the tensor are on "
                     "the same device");
        const std::optional<DType> wanted =
            autograd::is_leaf(t) ? autograd::grad_dtype(t) : t.dtype();
        HOTARU_CHECK(
            !wanted || grad.dtype() == *wanted,
            "attempting to assign a gradient with dtype '",
            cpp_type_name(grad.dtype()), "' to a tensor with grad_dtype '",
            scalar_type_name(wanted.value_or(t.dtype())),
            "'. The gradient must match the tensor's grad_dtype (defaults to "
            "the tensor's dtype). You can set the tensor's grad_dtype "
            "attribute with a specific dtype, or None to allow any dtype. Set "
            "grad_dtype with caution. Diverging the dtypes of a tensor and its "
            "gradient may break downstream systems that assume they match.");
        autograd::ensure_meta(t).grad = grad;
        return 0;
      },
      -1);
}

PyObject* get_grad_dtype(PyObject* self, void*) {
  return guarded([&] {
    const std::optional<DType> dtype = autograd::grad_dtype(tensor_of(self));
    return (dtype ? dtype_object(*dtype) : nb::none()).release().ptr();
  });
}

int set_grad_dtype(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        HOTARU_CHECK_AS(TypeError, value, "grad_dtype can't be deleted");
        const bool any = value == Py_None;
        HOTARU_CHECK(any || is_dtype(value),
                     "grad_dtype must be a torch.dtype or None, but got ",
                     any ? "None" : class_name(value));
        autograd::set_grad_dtype(
            tensor_of(self),
            any ? std::nullopt : std::optional(to_dtype(value)));
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
  nb::module_ inner = m.def_submodule(
      "_autograd", "What a backward pass and its graph can be asked.");
  init_nodes(m);
  init_hooks(m);
  init_notes(m);
  init_saved(inner);
  init_functions(m);
  init_passes(m, inner);
  init_forward(m);
  m.def("_run_backward", &run_backward, nb::arg("outputs"), nb::arg("grads"),
        nb::arg("retain_graph"), nb::arg("create_graph"), nb::arg("inputs"),
        nb::arg("allow_unused"), nb::arg("accumulate"),
        nb::arg("input_hooks") = true);
  m.def("_retain_grad", &autograd::retain_grad);
  inner.def("_push_node_creation_hook", &push_creation_hook);
  inner.def("_pop_node_creation_hook", &autograd::pop_creation_hook);
  m.def("is_grad_enabled", &autograd::grad_enabled);
  m.def("_set_grad_enabled", &autograd::set_grad_enabled);
  m.def("is_inference_mode_enabled", &autograd::inference_mode);
  m.def("_set_inference_mode", &autograd::set_inference_mode);
}

}  // namespace hotaru::python
