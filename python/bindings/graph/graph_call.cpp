// Calls of captured functions: whether arguments fit, their way into the
// graph's memory, and results.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include <bit>
#include <span>

#include "bindings/errors.h"
#include "bindings/graph/graph.h"
#include "bindings/graph/graph_backward.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/ops/create/copy.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

// Guarded by the interpreter's lock.
uint64_t module_changes = 0;

/// What one argument must be like, and where its values go.
struct Argument {
  Dims sizes, strides;
  DType dtype;
  bool requires_grad;
  Tensor target;        // undefined for what is no tensor
  nb::object constant;  // what it must equal then
};

/// A tensor that the graph knows by its address.
struct Guarded {
  Tensor tensor;
  const Storage* storage;
  bool requires_grad;
};

bool same_strides(const Tensor& t, const Argument& wanted) {
  for (size_t d = 0; d < wanted.sizes.size(); ++d)
    if (wanted.sizes[d] > 1 && t.strides()[d] != wanted.strides[d])
      return false;
  return true;
}

/// Arguments of a call, by position.
using Arguments = std::span<PyObject* const>;

Arguments span_of(const nb::tuple& arguments) {
  return {&PyTuple_GET_ITEM(arguments.ptr(), 0),
          size_t(PyTuple_GET_SIZE(arguments.ptr()))};
}

bool fits(PyObject* object, const Argument& wanted) {
  if (!wanted.target.defined()) {
    PyObject* constant = wanted.constant.ptr();
    if (object == constant) return true;
    if (Py_TYPE(object) != Py_TYPE(constant) || is_tensor(object)) return false;
    if (PyFloat_CheckExact(object))  // zeros have signs, NaN equals itself
      return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(object)) ==
             std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(constant));
    const int equal = PyObject_RichCompareBool(object, constant, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  }
  if (!is_tensor(object)) return false;
  const Tensor& t = tensor_of(object);
  return t.dtype() == wanted.dtype && t.sizes() == IntSpan(wanted.sizes) &&
         t.device().is_cpu() && same_strides(t, wanted) &&
         autograd::requires_grad(t) == wanted.requires_grad;
}

bool same_memory(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.storage_offset() == b.storage_offset();
}

/// One captured function for one kind of arguments.
class GraphCall {
 public:
  /// (argument of the capture, tensor whose memory the graph reads or None)
  using Pair = std::pair<nb::object, Tensor>;

  GraphCall(PyGraph* graph, const nb::list& arguments, const nb::list& guarded)
      : graph_(graph), grad_mode_(autograd::grad_enabled()) {
    for (nb::handle pair : arguments) add_argument(pair[0], pair[1]);
    for (nb::handle tensor : guarded) {
      const Tensor& t = tensor_of(tensor.ptr());
      guarded_.push_back({t, t.storage().get(), autograd::requires_grad(t)});
    }
    renew();
  }

  /// The results of the graph's function; fresh: calls give copies.
  void set_results(const std::vector<Tensor>& results, bool single,
                   bool fresh) {
    results_ = results;
    single_ = single;
    fresh_ = fresh;
  }

  /// What the modules are like is known as of now.
  void renew() { changes_ = module_changes; }

  /// Whether the tensors that it knows by address are still there.
  bool intact() const {
    for (const Guarded& g : guarded_)
      if (g.tensor.storage().get() != g.storage ||
          autograd::requires_grad(g.tensor) != g.requires_grad)
        return false;
    return true;
  }

  /// Whether the graph is right for a call with these arguments, here and now.
  bool ready(Arguments arguments) const {
    return changes_ == module_changes &&
           grad_mode_ == autograd::grad_enabled() && !graph::capturing() &&
           matches(arguments) && intact() && !(fresh_ && awaited());
  }

  /// Brings the values of arguments that match to where the graph reads them.
  void load(Arguments arguments) const {
    const autograd::NoGrad no_grad;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Tensor& target = arguments_[i].target;
      if (!target.defined()) continue;
      const Tensor& t = tensor_of(arguments[i]);
      if (!same_memory(t, target)) copy_(target, t);
    }
  }

  /// A call with arguments for which it is ready: the only result itself if
  /// it is single, else a tuple.
  nb::object run(Arguments arguments) const {
    if (backward_) ++backward_->call;
    load(arguments);
    graph_->replay();
    std::vector<Tensor> results;
    results.reserve(results_.size());
    for (const Tensor& t : results_) results.push_back(result(t));
    if (backward_) {
      std::vector<Tensor> trainable;
      for (size_t i = 0; i < arguments_.size(); ++i)
        if (arguments_[i].requires_grad)
          trainable.push_back(tensor_of(arguments[i]));
      record_call(backward_, trainable, results);
    }
    if (single_) return nb::steal(wrap(std::move(results[0])));
    nb::object out = nb::steal(PyTuple_New(Py_ssize_t(results.size())));
    for (size_t i = 0; i < results.size(); ++i)
      PyTuple_SET_ITEM(out.ptr(), Py_ssize_t(i), wrap(std::move(results[i])));
    return out;
  }

  /// The captured backward: see GraphBackward.
  void set_backward(const PyGraph& graph, const std::vector<Tensor>& incoming,
                    const std::vector<Tensor>& outgoing,
                    const std::vector<Tensor>& parameters) {
    backward_ = make_ref<GraphBackward>();
    backward_->graph = graph.graph;
    backward_->incoming = incoming;
    backward_->outgoing = outgoing;
    backward_->parameters = parameters;
    backward_->fresh = fresh_;
  }

  /// Whether the backward of the last call may yet come.
  bool awaited() const { return backward_ && backward_->awaited.load() != 0; }

 private:
  bool matches(Arguments arguments) const {
    if (arguments.size() != arguments_.size()) return false;
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (!fits(arguments[i], arguments_[i])) return false;
    return true;
  }

  void add_argument(nb::handle sample, nb::handle target) {
    Argument a{};
    if (target.is_none()) {
      a.constant = nb::borrow(sample);
    } else {
      const Tensor& t = tensor_of(sample.ptr());
      a.sizes = Dims(t.sizes());
      a.strides = Dims(t.strides());
      a.dtype = t.dtype();
      a.requires_grad = autograd::requires_grad(t);
      a.target = tensor_of(target.ptr());
    }
    arguments_.push_back(std::move(a));
  }

  Tensor result(const Tensor& t) const {
    const autograd::NoGrad no_grad;
    return fresh_ ? clone(t) : detach(t);
  }

  PyGraph* graph_;  // kept alive by the binding
  const bool grad_mode_;
  std::vector<Argument> arguments_;
  std::vector<Guarded> guarded_;
  std::vector<Tensor> results_;
  Ref<GraphBackward> backward_;
  bool single_ = false, fresh_ = false;
  uint64_t changes_ = 0;
};

/// hotaru._C._FastCall: the base of callables that run as graphs. A call with
/// nothing but positional arguments for which its graph is ready takes no
/// Python; others go to the method `_slow`.
struct FastCall {
  PyObject_HEAD vectorcallfunc vectorcall;
  /// A GraphCall's object, or null.
  PyObject* object;
  const GraphCall* call;
  /// Held while a call runs.
  PyThread_type_lock lock;
};

PyObject* slow_name = nullptr;

PyObject* call_slow(PyObject* self, PyObject* const* args, size_t nargsf,
                    PyObject* keywords) {
  const size_t n = size_t(PyVectorcall_NARGS(nargsf));
  const size_t all = n + (keywords ? size_t(PyTuple_GET_SIZE(keywords)) : 0);
  std::vector<PyObject*> with_self = {self};
  with_self.insert(with_self.end(), args, args + all);
  return PyObject_VectorcallMethod(slow_name, with_self.data(), n + 1,
                                   keywords);
}

PyObject* fast_vectorcall(PyObject* object, PyObject* const* args,
                          size_t nargsf, PyObject* keywords) {
  auto& self = *reinterpret_cast<FastCall*>(object);
  const Arguments arguments(args, size_t(PyVectorcall_NARGS(nargsf)));
  if (!self.call || keywords || !self.call->ready(arguments) ||
      !PyThread_acquire_lock(self.lock, NOWAIT_LOCK))
    return call_slow(object, args, nargsf, keywords);
  PyObject* result =
      guarded([&] { return self.call->run(arguments).release().ptr(); });
  PyThread_release_lock(self.lock);
  return result;
}

PyObject* fast_new(PyTypeObject* type, PyObject*, PyObject*) {
  auto* self = reinterpret_cast<FastCall*>(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  self->vectorcall = fast_vectorcall;
  self->lock = PyThread_allocate_lock();
  return reinterpret_cast<PyObject*>(self);
}

void fast_dealloc(PyObject* object) {
  auto* self = reinterpret_cast<FastCall*>(object);
  Py_CLEAR(self->object);
  PyThread_free_lock(self->lock);
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

/// The GraphCall for fast calls, or None. To be called with the lock held.
PyObject* fast_set(PyObject* object, PyObject* call) {
  auto* self = reinterpret_cast<FastCall*>(object);
  return guarded([&]() -> PyObject* {
    self->call =
        call == Py_None ? nullptr : nb::cast<GraphCall*>(nb::handle(call));
    Py_XSETREF(self->object, Py_NewRef(call));
    Py_RETURN_NONE;
  });
}

PyObject* fast_acquire(PyObject* object, PyObject*) {
  const PyThread_type_lock lock = reinterpret_cast<FastCall*>(object)->lock;
  if (!PyThread_acquire_lock(lock, NOWAIT_LOCK)) {
    const nb::gil_scoped_release release;
    PyThread_acquire_lock(lock, WAIT_LOCK);
  }
  Py_RETURN_NONE;
}

PyObject* fast_release(PyObject* object, PyObject*) {
  PyThread_release_lock(reinterpret_cast<FastCall*>(object)->lock);
  Py_RETURN_NONE;
}

PyMethodDef fast_methods[] = {{"_set_fast", fast_set, METH_O, nullptr},
                              {"_acquire", fast_acquire, METH_NOARGS, nullptr},
                              {"_release", fast_release, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
PyMemberDef fast_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FastCall, vectorcall),
     READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot fast_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(fast_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(fast_dealloc)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_methods, fast_methods},
    {Py_tp_members, fast_members},
    {0, nullptr}};
PyType_Spec fast_spec{
    "hotaru._C._FastCall", sizeof(FastCall), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
    fast_slots};

}  // namespace

void count_module_change() {
  ++module_changes;
}

void init_graph_call(nb::module_& m) {
  nb::class_<GraphCall>(m, "_GraphCall")
      .def(nb::init<PyGraph*, const nb::list&, const nb::list&>(),
           nb::keep_alive<1, 2>())
      .def("set_results", &GraphCall::set_results)
      .def("renew", &GraphCall::renew)
      .def("intact", &GraphCall::intact)
      .def("ready",
           [](const GraphCall& self, const nb::tuple& arguments) {
             return self.ready(span_of(arguments));
           })
      .def("run",
           [](const GraphCall& self, const nb::tuple& arguments) {
             return self.run(span_of(arguments));
           })
      .def("set_backward", &GraphCall::set_backward)
      .def("awaited", &GraphCall::awaited);
  slow_name = PyUnicode_InternFromString("_slow");
  m.attr("_FastCall") = nb::steal(PyType_FromSpec(&fast_spec));
  m.def("_shares_storage", [](const Tensor& a, const Tensor& b) {
    return a.storage() == b.storage();
  });
  m.def("_count_module_change", &count_module_change);
  m.def("_module_changes", [] { return module_changes; });
}

}  // namespace hotaru::python
