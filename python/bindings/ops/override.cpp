#include "bindings/ops/override.h"

#include <algorithm>

#include "bindings/errors.h"
#include "bindings/graph/around_calls.h"
#include "bindings/ops/answering_class.h"
#include "bindings/ops/call_walk.h"
#include "bindings/ops/dispatch.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::python::overrides {

std::atomic<bool> possible{false};

namespace {

namespace nb = nanobind;

/// Function that a class sets as its __torch_function__ to have no say.
PyObject* disabled_implementation = nullptr;
PyObject* protocol_name = nullptr;
std::atomic<bool> subclass_seen{false};
int modes_anywhere = 0;  // in all threads, under the GIL

/// Switches that a thread has off, and its modes, the last one first asked.
struct Thread {
  bool without_subclasses = false;
  bool without_all = false;
  /// Hidden classes are the library's: programs do not switch them off.
  bool without_hidden = false;
  std::vector<nb::object> modes;
};
thread_local Thread current;

/// Questions that graphs do not carry: of a tensor in memory of an argument
/// they tell of the graph's copy.
constexpr std::string_view kQuestions[] = {
    "_version",     "is_leaf",        "grad",           "_grad",
    "grad_fn",      "_base",          "storage_offset", "data_ptr",
    "_storage_ptr", "_storage_bytes", "retains_grad",   "output_nr",
    "_is_view",     "as_strided",     "as_strided_",    "resize_",
    "resize_as_",   "set_",           "storage",        "backward",
    "stride"};
using Questions = std::vector<std::pair<std::string, nb::object>>;
thread_local Questions* questions = nullptr;
int watchers = 0;  // in all threads, under the GIL

/// True if objects of the type answer operators. Borrowed lookup, no call.
bool answers(PyTypeObject* type) {
  if (type == tensor_type) return false;
  PyObject* found = look_up(type, protocol_name);
  return found && found != disabled_implementation;
}

bool is_simple(PyTypeObject* type) {
  return type == tensor_type || type == &PyLong_Type || type == &PyFloat_Type ||
         type == &PyBool_Type || type == &PyUnicode_Type ||
         type == Py_TYPE(Py_None);
}

bool answers(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == tensor_type) return answers(answering_class(object));
  return !is_simple(type) && !PyType_Check(object) && answers(type);
}

bool is_hidden(PyObject* object) {
  return is_hidden_class(answering_class(object));
}

/// True if an object answers, and this thread lets its kind be asked.
bool is_asked(PyObject* object) {
  if (!answers(object)) return false;
  if (is_hidden(object)) return !current.without_hidden;
  return !current.without_subclasses && !current.without_all;
}
nb::handle as_object(PyTypeObject* type) {
  return reinterpret_cast<PyObject*>(type);
}

/// The arguments to ask, each type once, subclasses before their bases, and
/// hidden classes, which are the library's, behind all others.
std::vector<PyObject*> find_arguments(const Call& call) {
  std::vector<PyObject*> found;
  any_argument(call, [&](PyObject* object) {
    if (!is_asked(object)) return false;
    PyTypeObject* type = answering_class(object);
    const bool hidden = is_hidden_class(type);
    auto at = found.end();
    for (auto it = found.begin(); it != found.end(); ++it) {
      PyTypeObject* other = answering_class(*it);
      if (other == type) return false;
      const bool before =
          PyType_IsSubtype(type, other) || (!hidden && is_hidden_class(other));
      if (at == found.end() && before) at = it;
    }
    found.insert(at, object);
    return false;
  });
  return found;
}

/// Fails with what modes and arguments said: that they do not know.
[[noreturn]] void nobody_answered(PyObject* func, nb::handle mode,
                                  const std::vector<PyObject*>& arguments) {
  const nb::object text =
      nb::module_::import_("hotaru.overrides").attr("_nobody_answered");
  nb::list types;
  for (PyObject* object : arguments)
    types.append(as_object(answering_class(object)));
  const nb::object message =
      text(nb::handle(func), mode.is_valid() ? mode : nb::none(), types);
  PyErr_SetObject(PyExc_TypeError, message.ptr());
  throw nb::python_error();
}

/// Takes the last mode away while it answers.
class WithoutLastMode {
 public:
  WithoutLastMode() : mode_(std::move(current.modes.back())) {
    current.modes.pop_back();
    --modes_anywhere;
    update_possible();
  }
  ~WithoutLastMode() {
    current.modes.push_back(std::move(mode_));
    ++modes_anywhere;
    update_possible();
  }
  nb::handle mode() const { return mode_; }

 private:
  nb::object mode_;
};

/// As PyTorch has it: None where there are none, but for Python functions.
nb::object keywords_of(const Call& call, bool python) {
  if (!call.keyword_count() && !python) return nb::none();
  nb::dict named;
  for (size_t i = 0; i < call.keyword_count(); ++i)
    named[nb::handle(call.keyword_name(i))] = nb::handle(call.keyword_value(i));
  return named;
}

nb::tuple positional_of(const Call& call) {
  nb::list out;
  for (size_t i = 0; i < call.positional; ++i)
    out.append(nb::handle(call.args[i]));
  return nb::tuple(out);
}

PyObject* ask_in_order(nb::handle func, const nb::tuple& args,
                       const nb::object& keywords,
                       const std::vector<PyObject*>& arguments,
                       bool quiet = false) {
  // Hidden classes are told of each other alone.
  nb::list open, all;
  for (PyObject* object : arguments) {
    PyTypeObject* cls = answering_class(object);
    all.append(as_object(cls));
    if (!is_hidden_class(cls)) open.append(as_object(cls));
  }
  const auto answer = [&](nb::handle who, const nb::list& types) {
    return who.attr("__torch_function__")(func, nb::tuple(types), args,
                                          keywords);
  };
  nb::object mode;
  if (!current.modes.empty() && !current.without_all) {
    const WithoutLastMode scope;
    mode = nb::borrow(scope.mode());
    nb::object result = answer(mode, open);
    if (result.ptr() != Py_NotImplemented) return result.release().ptr();
  }
  for (PyObject* object : arguments) {
    PyTypeObject* cls = answering_class(object);
    nb::object result = is_hidden_class(cls) ? answer(as_object(cls), all)
                                             : answer(object, open);
    if (result.ptr() != Py_NotImplemented) return result.release().ptr();
  }
  if (quiet) return Py_NewRef(Py_NotImplemented);
  nobody_answered(func.ptr(), mode, arguments);
}

bool mode_active() {
  return !current.modes.empty() && !current.without_all;
}

// --- functions written in Python ---------------------------------------------

/// A Python function that others may answer. Calls cost a look at the types of
/// the arguments. A late one is imported when it is first called or looked at,
/// so that a class may have methods whose files nobody has read yet.
struct Function {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* wrapped;  // null for a late one that was not imported yet
  PyObject* dict;
  PyObject* module;  // of a late one: where it is
  PyObject* name;    // and by what name
  PyObject* method;  // of a late one that a class has: "Tensor.norm"
};
PyTypeObject* function_type = nullptr;

Function* cast(PyObject* self) {
  return reinterpret_cast<Function*>(self);
}

/// The Python function, borrowed; null with a Python error where the module of
/// a late one can't be imported.
PyObject* wrapped_of(PyObject* self) {
  Function* function = cast(self);
  if (function->wrapped) [[likely]]
    return function->wrapped;
  PyObject* module = PyImport_Import(function->module);
  if (!module) return nullptr;
  PyObject* found = PyObject_GetAttr(module, function->name);
  Py_DECREF(module);
  if (!found) return nullptr;
  if (Py_TYPE(found) == function_type) {  // a module offers it the same way
    PyObject* inner = wrapped_of(found);
    Py_XINCREF(inner);
    Py_DECREF(found);
    if (!(found = inner)) return nullptr;
  }
  // Another thread may have been faster while this one imported.
  if (function->wrapped)
    Py_DECREF(found);
  else
    function->wrapped = found;
  return function->wrapped;
}

PyObject* function_call(PyObject* self, PyObject* const* args, size_t nargsf,
                        PyObject* keywords) {
  const Call call{args, size_t(PyVectorcall_NARGS(nargsf)), keywords};
  // Functions that it calls are seen by __torch_dispatch__, not it itself.
  if (overridden_as_function(call)) [[unlikely]]
    return ask(self, call);
  PyObject* wrapped = wrapped_of(self);
  return wrapped ? PyObject_Vectorcall(wrapped, args, nargsf, keywords)
                 : nullptr;
}

/// Calls a function of those that nobody answers.
PyObject* plain_call(PyObject* self, PyObject* const* args, size_t nargsf,
                     PyObject* keywords) {
  PyObject* wrapped = wrapped_of(self);
  return wrapped ? PyObject_Vectorcall(wrapped, args, nargsf, keywords)
                 : nullptr;
}

/// An attribute of the Python function.
PyObject* wrapped_attribute(PyObject* self, PyObject* name) {
  PyObject* wrapped = wrapped_of(self);
  return wrapped ? PyObject_GetAttr(wrapped, name) : nullptr;
}

PyObject* function_get(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  return bound_method(self, object);
}

/// Its own attributes first: __wrapped__; the others are the function's, and
/// those that every type has.
PyObject* function_attribute(PyObject* self, PyObject* name) {
  for (const char* text : {"__module__", "__doc__"})
    if (PyUnicode_CompareWithASCIIString(name, text) == 0)
      return wrapped_attribute(self, name);
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return wrapped_attribute(self, name);
}

int function_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(cast(self)->wrapped);
  Py_VISIT(cast(self)->dict);
  Py_VISIT(cast(self)->module);
  Py_VISIT(cast(self)->name);
  Py_VISIT(cast(self)->method);
  return 0;
}

int function_clear(PyObject* self) {
  Py_CLEAR(cast(self)->dict);
  Py_CLEAR(cast(self)->wrapped);
  Py_CLEAR(cast(self)->module);
  Py_CLEAR(cast(self)->name);
  Py_CLEAR(cast(self)->method);
  return 0;
}

void function_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  function_clear(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyObject* function_repr(PyObject* self) {
  PyObject* wrapped = wrapped_of(self);
  return wrapped ? PyObject_Repr(wrapped) : nullptr;
}

/// Pickles and copies are the name, as of any function; of a method its class
/// is asked for it.
PyObject* function_reduce(PyObject* self, PyObject*) {
  if (PyObject* method = cast(self)->method)
    return guarded([&]() -> PyObject* {
      const nb::object parts = nb::borrow(method).attr("rpartition")(".");
      const nb::object owner = nb::module_::import_("hotaru").attr(parts[0]);
      return nb::make_tuple(nb::module_::import_("builtins").attr("getattr"),
                            nb::make_tuple(owner, parts[2]))
          .release()
          .ptr();
    });
  PyObject* wrapped = wrapped_of(self);
  return wrapped ? PyObject_GetAttrString(wrapped, "__qualname__") : nullptr;
}

PyObject* function_wrapped(PyObject* self, void*) {
  return Py_XNewRef(wrapped_of(self));
}

PyGetSetDef function_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr,
     nullptr},
    {"__wrapped__", function_wrapped, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, vectorcall),
     READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Function, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot function_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(function_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(function_clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(function_get)},
    {Py_tp_getattro, reinterpret_cast<void*>(function_attribute)},
    {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
    {Py_tp_getset, function_getset},
    {Py_tp_methods, function_methods},
    {Py_tp_members, function_members},
    {0, nullptr}};
PyType_Spec function_spec{"hotaru._C.Function", sizeof(Function), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                              Py_TPFLAGS_HAVE_VECTORCALL |
                              Py_TPFLAGS_METHOD_DESCRIPTOR,
                          function_slots};

nb::object overridable(nb::handle function) {
  PyObject* made = PyType_GenericAlloc(function_type, 0);
  if (!made) throw nb::python_error();
  cast(made)->vectorcall = function_call;
  cast(made)->wrapped = function.inc_ref().ptr();
  return nb::steal(made);
}

/// A function that is in a module by that name, imported at its first use;
/// `method`: see Function.
nb::object late(nb::str module, nb::str name, bool answered,
                nb::object method) {
  PyObject* made = PyType_GenericAlloc(function_type, 0);
  if (!made) throw nb::python_error();
  cast(made)->vectorcall = answered ? function_call : plain_call;
  cast(made)->module = module.release().ptr();
  cast(made)->name = name.release().ptr();
  if (!method.is_none()) cast(made)->method = method.release().ptr();
  return nb::steal(made);
}

bool exchange(bool Thread::*flag, bool value) {
  return std::exchange(current.*flag, value);
}

}  // namespace

void update_possible() {
  possible = subclass_seen || modes_anywhere > 0 || dispatch::modes() > 0 ||
             watchers > 0;
}

void note_question(std::string_view name, PyObject* tensor) {
  if (!questions || !is_tensor(tensor)) return;
  if (std::find(std::begin(kQuestions), std::end(kQuestions), name) !=
      std::end(kQuestions))
    questions->emplace_back(name, nb::borrow(tensor));
}

void expect_subclasses() {
  subclass_seen = true;
  possible = true;
}

void note_type(PyTypeObject* type) {
  if (subclass_seen || !(answers(type) || dispatch::answers(type))) return;
  subclass_seen = true;
  update_possible();
}

bool overridden(const Call& call) {
  return overridden_as_function(call) || dispatch::applies(call);
}

bool overridden_as_function(const Call& call) {
  return mode_active() || any_argument(call, is_asked);
}

bool overridden(std::initializer_list<PyObject*> args) {
  return overridden(Call{args.begin(), args.size(), nullptr});
}

PyObject* ask(PyObject* func, const Call& call) {
  return guarded([&]() -> PyObject* {
    const auto arguments = find_arguments(call);
    if (arguments.empty() && !mode_active()) {
      if (!dispatch::applies(call)) return nullptr;
      return dispatch::ask(func, positional_of(call), keywords_of(call, true))
          .release()
          .ptr();
    }
    if (Py_TYPE(func) != function_type)
      return ask_in_order(func, positional_of(call), keywords_of(call, false),
                          arguments);
    // Python says which options are told by name, and with what defaults.
    const nb::object sent =
        nb::module_::import_("hotaru._sent_arguments").attr("sent");
    // A late one has its name before its file is read.
    PyObject* late = cast(func)->wrapped ? nullptr : cast(func)->name;
    const nb::object name =
        late ? nb::borrow(late) : nb::object(nb::handle(func).attr("__name__"));
    const nb::object given = sent(nb::handle(func), name, positional_of(call),
                                  keywords_of(call, true));
    return ask_in_order(func, nb::tuple(given[0]), nb::object(given[1]),
                        arguments);
  });
}

namespace {

/// handle_torch_function: `relevant` are the arguments to ask.
nb::object handle(nb::handle func, nb::tuple relevant, nb::tuple args,
                  nb::dict keywords) {
  const Call call{tuple_items(relevant.ptr()), relevant.size(), nullptr};
  return nb::steal(ask_in_order(func, args, keywords, find_arguments(call)));
}

}  // namespace

PyObject* ask_attribute(const char* name, const char* getter,
                        std::initializer_list<PyObject*> args) {
  const nb::handle tensor(reinterpret_cast<PyObject*>(tensor_type));
  return guarded([&]() -> PyObject* {
    nb::object func = tensor.attr(name);
    if (getter) func = func.attr(getter);
    return ask(func.ptr(), Call{args.begin(), args.size(), nullptr});
  });
}

PyObject* ask_operands(const char* name, const char* reflected, PyObject* a,
                       PyObject* b) {
  const nb::handle tensor(reinterpret_cast<PyObject*>(tensor_type));
  const auto asked = [&](const char* which, PyObject* x, PyObject* y) {
    PyObject* both[] = {x, y};
    const Call call{both, 2, nullptr};
    if (!overridden_as_function(call))
      return dispatch::ask(tensor.attr(which),
                           nb::make_tuple(nb::handle(x), nb::handle(y)),
                           nb::dict())
          .release()
          .ptr();
    return ask_in_order(tensor.attr(which),
                        nb::make_tuple(nb::handle(x), nb::handle(y)),
                        nb::none(), find_arguments(call), true);
  };
  return guarded([&]() -> PyObject* {
    PyObject* result = Py_NewRef(Py_NotImplemented);
    if (is_tensor(a)) result = asked(name, a, b);
    if (result != Py_NotImplemented || !is_tensor(b)) return result;
    Py_DECREF(result);
    return asked(reflected, b, a);
  });
}

void init_overrides(nb::module_& m) {
  protocol_name = PyUnicode_InternFromString("__torch_function__");
  function_type =
      reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&function_spec));
  if (!function_type) throw nb::python_error();
  m.attr("Function") = nb::handle(reinterpret_cast<PyObject*>(function_type));
  m.def("_overridable", &overridable);
  m.def("_late", &late, nb::arg("module"), nb::arg("name"),
        nb::arg("answered") = true, nb::arg("method") = nb::none());
  m.def("_disabled_torch_function_impl",
        [](nb::handle func, nb::handle, nb::args args, nb::kwargs) {
          nb::raise_type_error("__torch_function__ is disabled");
        });
  disabled_implementation =
      nb::object(m.attr("_disabled_torch_function_impl")).release().ptr();
  m.def("_answers_functions",
        [](nb::handle object) { return answers(object.ptr()); });
  m.def("_overridden", [](nb::args args) {
    return overridden_as_function(
        {tuple_items(args.ptr()), args.size(), nullptr});
  });
  m.def(
      "_openly_overridden",
      [](nb::args args) {
        const Call call{tuple_items(args.ptr()), args.size(), nullptr};
        return mode_active() || any_argument(call, [](PyObject* object) {
                 return is_asked(object) && !is_hidden(object);
               });
      },
      "The same without arguments of the type Tensor for which others answer.");
  m.def("_handle_torch_function", &handle);
  m.def("_without_subclasses", [](bool value) {
    return exchange(&Thread::without_subclasses, value);
  });
  m.def("_without_hidden",
        [](bool value) { return exchange(&Thread::without_hidden, value); });
  m.def("_without_overrides",
        [](bool value) { return exchange(&Thread::without_all, value); });
  m.def("_is_torch_function_enabled",
        [] { return !current.without_subclasses && !current.without_all; });
  m.def("_is_torch_function_all_disabled", [] { return current.without_all; });
  m.def("_push_on_torch_function_stack", [](nb::object mode) {
    current.modes.push_back(std::move(mode));
    ++modes_anywhere;
    count_interposer(1);
    update_possible();
  });
  m.def(
      "_watch_questions",
      [](bool begin) -> nb::object {
        nb::list out;
        if (questions) {
          for (auto& [name, tensor] : *questions)
            out.append(nb::make_tuple(nb::str(name.c_str()), tensor));
          delete std::exchange(questions, nullptr);
          --watchers;
        }
        if (begin) {
          questions = new Questions();
          ++watchers;
        }
        update_possible();
        return out;
      },
      "Begins to note, or ends and tells, what Python code of this thread asks "
      "tensors besides shapes, strides and values: [(name, tensor)].");
  m.def("_pop_torch_function_stack", [] {
    HOTARU_CHECK(!current.modes.empty(), "torch function mode stack is empty");
    nb::object mode = std::move(current.modes.back());
    current.modes.pop_back();
    --modes_anywhere;
    count_interposer(-1);
    update_possible();
    return mode;
  });
  m.def("_len_torch_function_stack", [] { return current.modes.size(); });
  m.def("_get_function_stack_at", [](size_t i) { return current.modes.at(i); });
}

}  // namespace hotaru::python::overrides
