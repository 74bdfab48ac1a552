// Calls of captured functions: whether arguments fit, their way into the
// graph's memory, and results.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <span>

#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/graph/around_calls.h"
#include "bindings/graph/graph.h"
#include "bindings/graph/graph_arguments.h"
#include "bindings/graph/graph_backward.h"
#include "bindings/graph/graph_gradients.h"
#include "bindings/graph/graph_results.h"
#include "bindings/graph/graph_states.h"
#include "bindings/graph/surroundings.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/default_device.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

// Guarded by the interpreter's lock.
uint64_t module_changes = 0;

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
        inference_(inference_mode()),
        autocast_(autocast::key()),
        default_dtype_(default_dtype()),
        device_(default_device()) {
    std::vector<const Tensor*> targets;
    for (nb::handle pair : arguments) {
      arguments_.push_back(
          argument_like(pair[0], pair[1], nb::cast<bool>(pair[2])));
      size_t first = 0;
      while (!nb::handle(arguments[first][0]).is(pair[0])) ++first;
      arguments_.back().first = first;
      if (!pair[1].is_none()) targets.push_back(&tensor_of(pair[1].ptr()));
    }
    for (nb::handle tensor : guarded)
      guarded_.emplace_back(tensor_of(tensor.ptr()));
    for (const Guarded& g : guarded_) owned_.push_back(&g.tensor);
    for (size_t i = 0; i < targets.size(); ++i)
      find_aliases(targets, i, owned_, aliases_);
    for (const Guarded& g : guarded_) known_bits_ |= bit_of(g.tensor);
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (arguments_[i].target.defined())
        known_.push_back(known(tensor_of(nb::handle(arguments[i][0]).ptr())));
    written_.resize(arguments_.size());
    for (const Operand& operand : graph->graph->program().operands()) {
      if (!operand.writes()) continue;
      const Ordered* storage = ordered_of(operand);
      writes_ |= knows(storage);
      for (size_t i = 0; i < arguments_.size(); ++i)
        written_[i] = written_[i] || holds(arguments_[i], storage);
    }
    renew(std::move(around));
  }

  /// See GraphResults; `versions`: how often the function counted a write to
  /// each argument that is a tensor. The tensors that gradients come to, or why
  /// calls cannot do as the function did.
  nb::object set_results(const std::vector<Tensor>& results,
                         const std::vector<Tensor>& lasting, bool single,
                         bool fresh, const std::vector<uint32_t>& versions) {
    results_ = GraphResults(results, arguments_, guarded_, lasting, fresh);
    single_ = single;
    fresh_ = fresh;
    size_t at = 0;
    for (const Argument& a : arguments_)
      versions_.push_back(a.target.defined() ? versions[at++] : 0);
    stores_ = writes_ || std::any_of(versions_.begin(), versions_.end(),
                                     [](uint32_t n) { return n != 0; });
    if (!results_.refusal().empty()) return nb::str(results_.refusal().c_str());
    nb::list roots;
    for (const Tensor& t : results_.roots()) roots.append(t);
    results_.forget_roots();
    return roots;
  }

  /// Calls are alike only if the same arguments are leaves.
  void set_leaves_matter() {
    for (Argument& a : arguments_) a.leaf_matters = a.target.defined();
  }
  /// Calls are alike only if all strides of arguments are the same.
  void set_strides_matter() {
    for (Argument& a : arguments_) a.strides_matter = a.target.defined();
  }
  /// How often a call counts writes to the tensors that it knows by address.
  /// The capture did so itself, in the name of the first one.
  void set_writes(const std::vector<uint32_t>& counts) {
    for (size_t i = 0; i < guarded_.size(); ++i)
      if (counts[i]) counted_.emplace_back(guarded_[i].tensor, counts[i]);
    counts_ = false;
  }

  /// Notes that what there is around the function is known as of now.
  /// `options`: of optimizers, or None.
  void renew(nb::object around, nb::object options = nb::none()) {
    changes_ = module_changes;
    settings_ = setting_changes();
    around_ = nb::cast<const Surroundings*>(around);
    around_object_ = std::move(around);
    options_ =
        options.is_none() ? nullptr : nb::cast<const Surroundings*>(options);
    options_object_ = std::move(options);
  }

  /// True if the tensors that it knows by address are still as they were.
  bool intact() const {
    for (const Guarded& g : guarded_)
      if (!g.intact()) return false;
    return true;
  }

  /// True if the graph is right for a call with these arguments, here and now.
  bool ready(Arguments arguments) const {
    return changes_ == module_changes && settings_ == setting_changes() &&
           !anyone_interposed() && grad_mode_ == autograd::grad_enabled() &&
           inference_ == inference_mode() && autocast_ == autocast::key() &&
           default_dtype_ == default_dtype() && device_ == default_device() &&
           !graph::capturing() && matches(arguments) && intact() &&
           (!stores_ || same_aliases(arguments)) && around_->unchanged() &&
           (!options_ || options_->unchanged()) &&
           std::all_of(gradients_.begin(), gradients_.end(),
                       std::mem_fn(&LeafGradient::ready)) &&
           !(fresh_ && (awaited() || states_.held()));
  }

  /// The states that each call renews; see GraphStates.
  GraphStates& states() { return states_; }

  /// True if calls write to an argument.
  bool writes_arguments() const {
    return std::find(written_.begin(), written_.end(), true) != written_.end();
  }
  /// True if calls write to arguments or to tensors known by address: then it
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
      if (arguments_[i].overlaps || t.dtype() == DType::kBool)
        bring_values(target, t);
      else
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
    std::vector<Tensor> roots = results_.make_roots();
    for (const LeafGradient& g : gradients_) g.bind();
    if (spent_) record_spent(roots, results_.recorded());
    // The backward reads what the function left, so writes are counted first.
    if (stores_) store(arguments);
    if (counts_)
      for (const auto& [t, writes] : counted_)
        for (uint32_t n = 0; n < writes; ++n) t.bump_version();
    counts_ = true;
    if (backward_) {
      std::vector<Tensor> trainable, read;
      for (size_t i = 0; i < arguments_.size(); ++i)
        if (arguments_[i].requires_grad && arguments_[i].first == i)
          trainable.push_back(tensor_of(arguments[i]));
      for (size_t i : backward_->read_arguments)
        read.push_back(tensor_of(arguments[i]));
      record_call(backward_, trainable, read, roots);
    }
    if (single_ && results_.only_root())
      return nb::steal(wrap(std::move(roots[0])));
    nb::object out = nb::steal(PyTuple_New(Py_ssize_t(results_.size())));
    results_.make(roots, arguments, tuple_items(out.ptr()));
    return single_ ? nb::borrow(tuple_item(out.ptr(), 0)) : out;
  }

  /// The captured backward: see GraphBackward. `results`: those of the capture.
  void set_backward(const PyGraph& graph, const std::vector<Tensor>& results,
                    const std::vector<Tensor>& incoming,
                    const std::vector<Tensor>& outgoing,
                    const std::vector<Tensor>& parameters,
                    const std::vector<std::vector<size_t>>& sources) {
    backward_ = make_ref<GraphBackward>();
    backward_->graph = graph.graph;
    backward_->incoming = incoming;
    backward_->outgoing = outgoing;
    backward_->parameters = parameters;
    backward_->sources = sources;
    backward_->fresh = fresh_;
    for (const Operand& operand : graph.graph->program().operands())
      for (const Guarded& g : guarded_)
        if (operand.reads() && ordered_of(operand) == g.storage) {
          backward_->saved.push_back(g);
          break;
        }
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (!written_[i] && arguments_[i].target.defined() &&
          reads(*graph.graph, arguments_[i].target))
        backward_->read_arguments.push_back(i);
    for (const Tensor& t : results)
      backward_->read_results.push_back(!knows(t.storage().get()) &&
                                        reads(*graph.graph, t));
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
                            .after = optional(3),
                            .kept = nb::cast<bool>(g[4])});
    }
  }
  /// True if gradients can be brought to where the graph looks for them.
  bool gradients_fit() const {
    return std::all_of(gradients_.begin(), gradients_.end(),
                       std::mem_fn(&LeafGradient::fits));
  }
  void bring_gradients() const {
    for (const LeafGradient& g : gradients_) g.bring();
  }
  /// Results that require grad come from a backward pass within the function.
  void set_spent() { spent_ = true; }

  /// True if the backward of the last call may yet come.
  bool awaited() const { return backward_ && backward_->awaited.load() != 0; }

  int traverse(visitproc visit, void* arg) const {
    for (const Argument& a : arguments_) Py_VISIT(a.constant.ptr());
    Py_VISIT(around_object_.ptr());
    Py_VISIT(options_object_.ptr());
    return states_.traverse(visit, arg);
  }

 private:
  bool matches(Arguments arguments) const {
    if (arguments.size() != arguments_.size()) return false;
    for (size_t i = 0, at = 0; i < arguments_.size(); ++i) {
      if (!fits(arguments[i], arguments_[i])) return false;
      if (!arguments_[i].target.defined()) continue;
      const Tensor& t = tensor_of(arguments[i]);
      const int64_t wanted = known_[at++];
      if (((known_bits_ & bit_of(t)) || wanted >= 0) && known(t) != wanted)
        return false;
    }
    return same_objects(arguments, arguments_);
  }

  /// One of 64 bits that tells a tensor from most others.
  static uint64_t bit_of(const Tensor& t) {
    const auto key = reinterpret_cast<uintptr_t>(t.impl());
    return uint64_t{1} << (key * 0x9E3779B97F4A7C15u >> 58);
  }
  /// Which of the tensors that it knows by address this is; -1 for none.
  int64_t known(const Tensor& t) const {
    for (size_t i = 0; i < guarded_.size(); ++i)
      if (guarded_[i].tensor.is_same(t)) return int64_t(i);
    return -1;
  }

  static bool holds(const Argument& a, const Ordered* storage) {
    return a.target.defined() && a.target.storage().get() == storage;
  }

  /// True if a graph reads the memory of a tensor.
  static bool reads(const graph::Graph& graph, const Tensor& t) {
    for (const Operand& operand : graph.program().operands())
      if (operand.reads() && ordered_of(operand) == t.storage().get())
        return true;
    return false;
  }

  /// True if it is memory of an argument or of a tensor known by address.
  bool knows(const Ordered* storage) const {
    for (const Argument& a : arguments_)
      if (holds(a, storage)) return true;
    for (const Guarded& g : guarded_)
      if (g.storage == storage) return true;
    return false;
  }

  /// True if arguments that fit share memory as the graph's own do.
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

  /// Tells whether the graph's kernels get the address of an argument in place
  /// of its values: where it costs less than a copy, and nobody writes to
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
      if (same_memory(t, target)) continue;
      const Tensor kept =
          empty_strided(t.sizes(), t.strides(), TensorOptions(t));
      bring_values(kept, t);
      pairs.emplace_back(target, kept);
    }
    for (const auto& [target, t] : pairs) bring_values(target, t);
  }

  /// Brings what the graph wrote into its copies of arguments back to them,
  /// and counts what the function counted as writes.
  void store(Arguments arguments) const {
    const autograd::NoGrad no_grad;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Argument& a = arguments_[i];
      if (!a.target.defined() || a.first != i) continue;
      const Tensor& t = tensor_of(arguments[i]);
      if (a.target.storage() == t.storage()) continue;
      if (written_[i]) {
        Tensor to = make_alias(t);
        to.impl()->tracks_version = false;
        bring_values(to, a.target);
      }
      // Arguments that share memory count together.
      size_t first = 0;
      while (!holds(arguments_[first], a.target.storage().get())) ++first;
      for (uint32_t n = 0; first == i && n < versions_[i]; ++n)
        t.bump_version();
    }
  }

  PyGraph* graph_;  // kept alive by the binding
  const bool grad_mode_, inference_;
  const int64_t autocast_;
  const DType default_dtype_;
  const std::optional<Device> device_;
  std::vector<Argument> arguments_;
  std::vector<Guarded> guarded_;
  std::vector<const Tensor*> owned_;  // of guarded_
  std::vector<Alias> aliases_;        // among arguments that are tensors
  std::vector<int64_t> known_;        // of each of those, see known()
  uint64_t known_bits_ = 0;
  // By argument: whether the graph writes it, and how often that counts.
  std::vector<bool> written_;
  std::vector<uint32_t> versions_;
  std::vector<std::pair<Tensor, uint32_t>> counted_;  // see set_writes()
  mutable bool counts_ = true;
  GraphResults results_;
  Ref<GraphBackward> backward_;
  LeafGradients gradients_;
  GraphStates states_;
  bool single_ = false, fresh_ = false, writes_ = false, stores_ = false,
       spent_ = false;
  uint64_t changes_ = 0, settings_ = 0;
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
  const size_t all = n + (keywords ? size_t(tuple_size(keywords)) : 0);
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
  auto* self = reinterpret_cast<FastCall*>(PyType_GenericAlloc(type, 0));
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
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

/// The GraphCall for fast calls, or None. To be called with the lock held.
PyObject* fast_set(PyObject* object, PyObject* call) {
  auto* self = reinterpret_cast<FastCall*>(object);
  return guarded([&]() -> PyObject* {
    self->call =
        call == Py_None ? nullptr : nb::cast<GraphCall*>(nb::handle(call));
    set_owned(self->object, Py_NewRef(call));
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
      .def("set_writes", &GraphCall::set_writes)
      .def("set_leaves_matter", &GraphCall::set_leaves_matter)
      .def("set_strides_matter", &GraphCall::set_strides_matter)
      .def("renew", &GraphCall::renew, nb::arg("around"),
           nb::arg("options") = nb::none())
      .def("set_gradients", &GraphCall::set_gradients)
      .def("gradients_fit", &GraphCall::gradients_fit)
      .def("bring_gradients", &GraphCall::bring_gradients)
      .def("set_spent", &GraphCall::set_spent)
      .def("watch_states",
           [](GraphCall& self, const std::vector<Tensor>& tensors,
              const nb::list& containers) {
             self.states().watch(tensors, containers);
           })
      .def("count_states", [](GraphCall& self) { self.states().count(); })
      .def("states_held", [](GraphCall& self) { return self.states().held(); })
      .def("intact", &GraphCall::intact)
      .def_prop_ro("writes", &GraphCall::writes)
      .def("writes_arguments", &GraphCall::writes_arguments)
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
  m.def("_count_interposer", &count_interposer);
  m.def("_count_setting_change", &count_setting_change);
  m.def("_setting_changes", &setting_changes);
  m.def("_count_module_change", &count_module_change);
  m.def("_module_changes", [] { return module_changes; });
}

}  // namespace hotaru::python
