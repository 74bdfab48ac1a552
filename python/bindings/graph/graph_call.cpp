// Calls of captured functions: whether arguments fit, their way into the
// graph's memory, and results.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include <algorithm>
#include <functional>
#include <span>

#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/graph/graph.h"
#include "bindings/graph/graph_arguments.h"
#include "bindings/graph/graph_backward.h"
#include "bindings/graph/graph_gradients.h"
#include "bindings/graph/surroundings.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

// Guarded by the interpreter's lock.
uint64_t module_changes = 0;

/// A result of the function. Where it is memory of an argument, or of a tensor
/// that the graph knows by address, callers get a view of that one.
struct Result {
  Tensor tensor;
  int64_t argument = -1, guarded = -1;
  bool same = false;  // the very tensor
  bool requires_grad = false;
};

/// One captured function for one kind of arguments.
class GraphCall {
 public:
  /// arguments: (argument of the capture, tensor whose memory the graph reads
  /// or None, whether that is the graph's own); around: what else the function
  /// reads.
  GraphCall(PyGraph* graph, const nb::list& arguments, const nb::list& guarded,
            nb::object around)
      : graph_(graph),
        grad_mode_(autograd::grad_enabled()),
        autocast_(autocast::key()),
        default_dtype_(default_dtype()) {
    std::vector<const Tensor*> targets;
    for (nb::handle pair : arguments) {
      arguments_.push_back(
          argument_like(pair[0], pair[1], nb::cast<bool>(pair[2])));
      if (!pair[1].is_none()) targets.push_back(&tensor_of(pair[1].ptr()));
    }
    for (nb::handle tensor : guarded)
      guarded_.emplace_back(tensor_of(tensor.ptr()));
    for (const Guarded& g : guarded_) owned_.push_back(&g.tensor);
    for (size_t i = 0; i < targets.size(); ++i)
      find_aliases(targets, i, owned_, aliases_);
    for (const Operand& operand : graph->graph->program().operands())
      writes_ |= operand.writes() && knows(ordered_of(operand));
    renew(std::move(around));
  }

  /// The results of the graph's function as they left it; fresh: calls give
  /// copies. Results in the memory of `lasting` tensors are views of them.
  void set_results(const std::vector<Tensor>& results,
                   const std::vector<Tensor>& lasting, bool single,
                   bool fresh) {
    results_.clear();
    for (const Tensor& t : results) results_.push_back(found(t, lasting));
    single_ = single;
    fresh_ = fresh;
  }

  /// What there is around the function is known as of now. `options`: of
  /// optimizers, or None.
  void renew(nb::object around, nb::object options = nb::none()) {
    changes_ = module_changes;
    around_ = nb::cast<const Surroundings*>(around);
    around_object_ = std::move(around);
    options_ =
        options.is_none() ? nullptr : nb::cast<const Surroundings*>(options);
    options_object_ = std::move(options);
  }

  /// Whether the tensors that it knows by address are still as they were.
  bool intact() const {
    for (const Guarded& g : guarded_)
      if (!g.intact()) return false;
    return true;
  }

  /// Whether the graph is right for a call with these arguments, here and now.
  bool ready(Arguments arguments) const {
    return changes_ == module_changes &&
           grad_mode_ == autograd::grad_enabled() &&
           autocast_ == autocast::key() && default_dtype_ == default_dtype() &&
           !graph::capturing() && matches(arguments) && intact() &&
           (!writes_ || same_aliases(arguments)) && around_->unchanged() &&
           (!options_ || options_->unchanged()) &&
           std::all_of(gradients_.begin(), gradients_.end(),
                       std::mem_fn(&LeafGradient::ready)) &&
           !(fresh_ && awaited());
  }

  /// Whether calls write to arguments or to tensors known by address: then it
  /// matters which of them share memory.
  bool writes() const { return writes_; }

  /// Brings the values of arguments that match to where the graph reads them,
  /// or has it read them where they are: then they are added to `reads`.
  void load(Arguments arguments, std::vector<Operand>& reads) const {
    const autograd::NoGrad no_grad;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Tensor& target = arguments_[i].target;
      if (!target.defined()) continue;
      const Tensor& t = tensor_of(arguments[i]);
      if (same_memory(t, target)) continue;
      if (is_read_in_place(arguments_[i], t)) {
        if (target.storage()->data() != t.address())
          target.storage()->place(t.address(), t.storage());
        reads.push_back(read(t));
        continue;
      }
      // Whoever was given the memory of another argument comes first.
      if (is_target(t)) return load_copies(arguments);
      copy_(target, t);
    }
  }

  /// A call with arguments for which it is ready: the only result itself if
  /// it is single, else a tuple.
  nb::object run(Arguments arguments) const {
    if (backward_) ++backward_->call;
    std::vector<Operand> reads;  // no memory until there is one
    load(arguments, reads);
    graph_->replay(reads);
    std::vector<Tensor> results;
    results.reserve(results_.size());
    for (const Result& r : results_) results.push_back(values(r));
    for (const LeafGradient& g : gradients_) g.bind();
    if (spent_) record_spent(results, requiring());
    if (backward_) {
      std::vector<Tensor> trainable;
      for (size_t i = 0; i < arguments_.size(); ++i)
        if (arguments_[i].requires_grad)
          trainable.push_back(tensor_of(arguments[i]));
      record_call(backward_, trainable, results);
    }
    const auto object = [&](size_t i) {
      const Result& r = results_[i];
      return r.argument < 0 && r.guarded < 0 ? wrap(std::move(results[i]))
                                             : view(r, arguments);
    };
    if (single_) return nb::steal(object(0));
    nb::object out = nb::steal(PyTuple_New(Py_ssize_t(results.size())));
    for (size_t i = 0; i < results.size(); ++i)
      PyTuple_SET_ITEM(out.ptr(), Py_ssize_t(i), object(i));
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
    for (const Operand& operand : graph.graph->program().operands())
      for (const Guarded& g : guarded_)
        if (operand.reads() && ordered_of(operand) == g.storage) {
          backward_->saved.push_back(g);
          break;
        }
  }

  /// The function works on gradients of leaves; see LeafGradient.
  void set_gradients(const nb::list& gradients) {
    for (nb::handle g : gradients) {
      const auto optional = [&](int at) {
        return g[at].is_none() ? Tensor() : tensor_of(nb::object(g[at]).ptr());
      };
      gradients_.push_back({.leaf = optional(0),
                            .given = nb::cast<bool>(g[1]),
                            .before = optional(2),
                            .after = optional(3)});
    }
  }
  /// Whether gradients can be brought to where the graph looks for them.
  bool gradients_fit() const {
    return std::all_of(gradients_.begin(), gradients_.end(),
                       std::mem_fn(&LeafGradient::fits));
  }
  void bring_gradients() const {
    for (const LeafGradient& g : gradients_) g.bring();
  }
  /// Results that require grad come from a backward pass within the function.
  void set_spent() { spent_ = true; }

  /// Whether the backward of the last call may yet come.
  bool awaited() const { return backward_ && backward_->awaited.load() != 0; }

  int traverse(visitproc visit, void* arg) const {
    for (const Argument& a : arguments_) Py_VISIT(a.constant.ptr());
    Py_VISIT(around_object_.ptr());
    Py_VISIT(options_object_.ptr());
    return 0;
  }

 private:
  bool matches(Arguments arguments) const {
    if (arguments.size() != arguments_.size()) return false;
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (!fits(arguments[i], arguments_[i])) return false;
    return true;
  }

  /// Whether it is memory of an argument or of a tensor known by address.
  bool knows(const Ordered* storage) const {
    for (const Argument& a : arguments_)
      if (a.target.defined() && a.target.storage().get() == storage)
        return true;
    for (const Guarded& g : guarded_)
      if (g.storage == storage) return true;
    return false;
  }

  /// Whether arguments that fit share memory as the graph's own do.
  bool same_aliases(Arguments arguments) const {
    constexpr size_t kMost = 64;
    const Tensor* tensors[kMost];
    size_t n = 0;
    std::vector<Alias> found;  // no memory until there is one
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (!arguments_[i].target.defined()) continue;
      if (n == kMost) return false;
      tensors[n] = &tensor_of(arguments[i]);
      find_aliases({tensors, n + 1}, n, owned_, found);
      ++n;
    }
    return found == aliases_;
  }

  /// Whether the graph's kernels get the address of an argument in place of
  /// its values: where it costs less than a copy, and nobody writes to
  /// arguments or needs their values later. Always so for one, or never, as
  /// copying would then write to somebody's tensor.
  bool is_read_in_place(const Argument& a, const Tensor& t) const {
    constexpr size_t kLeast = 1 << 18;
    if (!a.own || a.target.device().is_cpu() || backward_ || writes_ ||
        a.target.storage()->nbytes() < kLeast ||
        t.device() != a.target.device())
      return false;
    const DeviceGraph* made = graph_->graph->program().device_graph();
    return made && made->follows(*a.target.storage());
  }

  bool is_target(const Tensor& t) const {
    for (const Argument& a : arguments_)
      if (a.target.defined() && a.target.storage() == t.storage()) return true;
    return false;
  }

  void load_copies(Arguments arguments) const {
    std::vector<std::pair<Tensor, Tensor>> pairs;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Tensor& target = arguments_[i].target;
      if (!target.defined()) continue;
      const Tensor& t = tensor_of(arguments[i]);
      if (!same_memory(t, target)) pairs.emplace_back(target, clone(t));
    }
    for (const auto& [target, t] : pairs) copy_(target, t);
  }

  Result found(const Tensor& t, const std::vector<Tensor>& lasting) const {
    Result r;
    r.tensor = detach(t);
    r.requires_grad = autograd::requires_grad(t);
    for (size_t i = 0; i < arguments_.size() && r.argument < 0; ++i) {
      const Tensor& target = arguments_[i].target;
      if (!target.defined() || target.storage() != t.storage() ||
          target.dtype() != t.dtype())
        continue;
      r.argument = int64_t(i);
      r.same = t.is_same(target);
    }
    if (r.argument >= 0) return r;
    for (size_t i = 0; i < guarded_.size() && r.guarded < 0; ++i) {
      const Tensor& known = guarded_[i].tensor;
      if (known.storage() != t.storage() || known.dtype() != t.dtype())
        continue;
      for (const Tensor& l : lasting)
        if (l.is_same(known)) r.guarded = int64_t(i);
      r.same = t.is_same(known);
    }
    return r;
  }

  std::vector<bool> requiring() const {
    std::vector<bool> out;
    for (const Result& r : results_) out.push_back(r.requires_grad);
    return out;
  }

  /// The result's values, in memory of its own if they are to be fresh.
  Tensor values(const Result& r) const {
    const autograd::NoGrad no_grad;
    const bool copied = fresh_ && r.argument < 0 && r.guarded < 0;
    return copied ? clone(r.tensor) : detach(r.tensor);
  }

  /// The result as part of an argument or of a tensor known by address.
  PyObject* view(const Result& r, Arguments arguments) const {
    const Tensor& whole = r.guarded >= 0 ? guarded_[size_t(r.guarded)].tensor
                                         : tensor_of(arguments[r.argument]);
    if (r.same)
      return r.guarded >= 0 ? wrap(whole) : Py_NewRef(arguments[r.argument]);
    const Tensor& from =
        r.guarded >= 0 ? whole : arguments_[size_t(r.argument)].target;
    const int64_t offset = whole.storage_offset() + r.tensor.storage_offset() -
                           from.storage_offset();
    const Tensor t =
        as_strided(whole, r.tensor.sizes(), r.tensor.strides(), offset);
    return wrap(r.requires_grad ? t : detach(t));
  }

  PyGraph* graph_;  // kept alive by the binding
  const bool grad_mode_;
  const int64_t autocast_;
  const DType default_dtype_;
  std::vector<Argument> arguments_;
  std::vector<Guarded> guarded_;
  std::vector<const Tensor*> owned_;  // of guarded_
  std::vector<Alias> aliases_;        // among arguments that are tensors
  std::vector<Result> results_;
  Ref<GraphBackward> backward_;
  LeafGradients gradients_;
  bool single_ = false, fresh_ = false, writes_ = false, spent_ = false;
  uint64_t changes_ = 0;
  nb::object around_object_, options_object_;
  const Surroundings *around_ = nullptr, *options_ = nullptr;
};

/// [(position, whom it overlaps, how far)] of tensors; see Alias.
nb::tuple aliases_of(const std::vector<Tensor>& tensors,
                     const std::vector<Tensor>& owned) {
  const auto pointers = [](const std::vector<Tensor>& from) {
    std::vector<const Tensor*> out;
    for (const Tensor& t : from) out.push_back(&t);
    return out;
  };
  const auto all = pointers(tensors), others = pointers(owned);
  std::vector<Alias> found;
  for (size_t i = 0; i < all.size(); ++i) find_aliases(all, i, others, found);
  nb::list out;
  for (const Alias& a : found)
    out.append(nb::make_tuple(a.tensor, a.with, a.distance));
  return nb::tuple(out);
}

int call_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<GraphCall>(self)->traverse(visit, arg);
}

PyType_Slot call_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(call_traverse)}, {0, nullptr}};

/// hotaru._C._FastCall: the base of callables that run as graphs. A call with
/// nothing but positional arguments for which its graph is ready takes no
/// Python; others go to the method `_slow`.
struct FastCall {
  PyObject_HEAD vectorcallfunc vectorcall;
  /// A GraphCall's object, or null.
  PyObject* object;
  const GraphCall* call;
  /// Held while a call runs, in this process: a child makes another.
  PyThread_type_lock lock;
  uint32_t process;
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
  self->process = fork_count();
  return reinterpret_cast<PyObject*>(self);
}

int fast_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(reinterpret_cast<FastCall*>(object)->object);
  return 0;
}

int fast_clear(PyObject* object) {
  auto* self = reinterpret_cast<FastCall*>(object);
  self->call = nullptr;
  Py_CLEAR(self->object);
  return 0;
}

void fast_dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  auto* self = reinterpret_cast<FastCall*>(object);
  fast_clear(object);
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
  auto& self = *reinterpret_cast<FastCall*>(object);
  if (self.process != fork_count()) {
    self.lock = PyThread_allocate_lock();  // whoever held the other is lost
    self.process = fork_count();
  }
  const PyThread_type_lock lock = self.lock;
  if (!PyThread_acquire_lock(lock, NOWAIT_LOCK)) {
    const GilRelease release;
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
    {Py_tp_traverse, reinterpret_cast<void*>(fast_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(fast_clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_methods, fast_methods},
    {Py_tp_members, fast_members},
    {0, nullptr}};
PyType_Spec fast_spec{"hotaru._C._FastCall", sizeof(FastCall), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                          Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                      fast_slots};

}  // namespace

void count_module_change() {
  ++module_changes;
}

void init_graph_call(nb::module_& m) {
  nb::class_<GraphCall>(m, "_GraphCall", nb::type_slots(call_slots))
      .def(nb::init<PyGraph*, const nb::list&, const nb::list&, nb::object>(),
           nb::keep_alive<1, 2>())
      .def("set_results", &GraphCall::set_results)
      .def("renew", &GraphCall::renew, nb::arg("around"),
           nb::arg("options") = nb::none())
      .def("set_gradients", &GraphCall::set_gradients)
      .def("gradients_fit", &GraphCall::gradients_fit)
      .def("bring_gradients", &GraphCall::bring_gradients)
      .def("set_spent", &GraphCall::set_spent)
      .def("intact", &GraphCall::intact)
      .def_prop_ro("writes", &GraphCall::writes)
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
  m.def("_aliases", &aliases_of);
  m.def("_history_released", &history_released);
  m.def("_shares_storage", [](const Tensor& a, const Tensor& b) {
    return a.storage() == b.storage();
  });
  m.def("_count_module_change", &count_module_change);
  m.def("_module_changes", [] { return module_changes; });
}

}  // namespace hotaru::python
