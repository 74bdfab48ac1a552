#include "bindings/ops/op_call.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>

#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/ops/op_bind.h"
#include "bindings/ops/op_deprecated.h"
#include "bindings/ops/op_error.h"
#include "bindings/ops/op_result.h"
#include "bindings/ops/override.h"
#include "bindings/runtime/accelerator.h"
#include "bindings/runtime/callers.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/checks.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/out.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

// Elements from which a call is worth letting other Python threads run, and
// elements of one factor times those of the other; and those from which its
// thread is one that computes.
constexpr int64_t kReleaseGil = 1 << 15;
constexpr int64_t kReleaseProduct = 1 << 26;
constexpr int64_t kNotedProduct = 1 << 20;

struct OpObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  const std::vector<const Operator*>* overloads;
  /// Made at the first call: most programs use a few dozen operators.
  std::vector<Signature> signatures;
  PyObject* name;
  bool method;
};

PyTypeObject* op_type = nullptr;

/// Length of a call: nothing to speak of, enough that its thread is one that
/// computes, or enough that others may run meanwhile.
enum class Length { kShort, kNoted, kLong };

Length length_of(const Signature& signature, const Value* values) {
  if (signature.work() == Work::kSequences) return Length::kLong;
  int64_t first = 0, second = 0;  // the largest
  for (size_t i = 0; i < signature.arguments(); ++i) {
    if (!values[i].is_tensor()) continue;
    const int64_t n = values[i].tensor_ref().numel();
    if (n >= kReleaseGil) return Length::kLong;
    second = std::max(second, std::min(n, first));
    first = std::max(first, n);
  }
  if (signature.work() != Work::kProducts || first * second < kNotedProduct)
    return Length::kShort;
  return first * second < kReleaseProduct ? Length::kNoted : Length::kLong;
}

void run(const Signature& signature, Value* arguments, Value* results) {
  const Operator& op = signature.op();
  const Length length = length_of(signature, arguments);
  if (length != Length::kShort) note_caller();
  if (length != Length::kLong) return op.call(arguments, results);
  const GilRelease release;
  op.call(arguments, results);
}

/// Values of a call: constructed as far as they are used.
template <size_t kMax>
class Values {
 public:
  explicit Values(size_t n) : n_(n) {
    for (size_t i = 0; i < n; ++i) new (data() + i) Value();
  }
  ~Values() {
    for (size_t i = 0; i < n_; ++i) data()[i].~Value();
  }
  Value* data() { return reinterpret_cast<Value*>(memory_); }

 private:
  size_t n_;
  alignas(Value) unsigned char memory_[kMax * sizeof(Value)];
};

void set_requires_grad(const Operator& op, PyObject* tensor, PyObject* flag) {
  if (!flag || flag == Py_None) return;
  HOTARU_CHECK_AS(TypeError, PyBool_Check(flag), op.name(),
                  "(): argument 'requires_grad' must be bool, not ",
                  class_name(flag));
  if (is_tensor(tensor))
    check_gradient(flag == Py_True, tensor_of(tensor).dtype());
  if (flag == Py_True && is_tensor(tensor) &&
      PyObject_SetAttrString(tensor, "requires_grad", Py_True) < 0)
    throw nb::python_error();
}

template <class F>
PyObject* with_results(const Signature& signature, Value* arguments,
                       const F& f) {
  const Operator& op = signature.op();
  Values<kMaxResults> results(
      std::max<size_t>(signature.schema().results.size(), 1));
  run(signature, arguments, results.data());
  return f(op, results.data());
}

/// Prepares a call for one tensor that is the caller's.
void prepare_out(const Signature& signature, const Call& call,
                 const Tensor& out, Value* arguments,
                 std::optional<ResultPlace>& place) {
  const PyObject* dtype = call.keyword("dtype");
  follow_out(signature.schema(), out, dtype && dtype != Py_None, arguments);
  check_without_tangents(signature.op(), arguments, {&out, 1});
  check_out_apart(signature.op(), arguments, out);
  if (const auto how = result_place(signature.op(), arguments, out))
    place.emplace(out, *how, signature.schema().name);
}

/// Apart, so that calls without keywords stay short.
[[gnu::noinline]] PyObject* call_with_keywords(const Signature& signature,
                                               const Call& call,
                                               Value* arguments) {
  // Results for a tensor of the caller's are computed as they are, and there.
  std::optional<autocast::Off> plain;
  std::optional<ResultPlace> place;
  if (PyObject* out = call.keyword("out"); out && out != Py_None) {
    plain.emplace();
    if (is_tensor(out))
      prepare_out(signature, call, tensor_of(out), arguments, place);
    else
      check_without_tangents(signature.op(), arguments, {});
  }
  return with_results(
      signature, arguments,
      [&](const Operator& op, Value* results) -> PyObject* {
        if (PyObject* out = call.keyword("out"); out && out != Py_None)
          return write_results(op, results, out);
        PyObject* result = convert_results(op, results);
        if (call.keyword("pin_memory") == Py_True && is_tensor(result)) {
          PyObject* pinned = wrap(pin_memory(tensor_of(result)));
          Py_DECREF(result);
          result = pinned;
        }
        set_requires_grad(op, result, call.keyword("requires_grad"));
        return result;
      });
}

PyObject* call_plain(const Signature& signature, const Call& call,
                     Value* arguments) {
  if (call.keywords) return call_with_keywords(signature, call, arguments);
  return with_results(signature, arguments, convert_results);
}

PyObject* call_overload(const Signature& signature, const Call& call,
                        Value* arguments) {
  PyObject* result = call_plain(signature, call, arguments);
  if (result != Py_None || !signature.returns_list()) return result;
  Py_DECREF(result);
  return Py_NewRef(call.args[0]);
}

/// Answer of jit.trace to calls with stand-ins for tensors: called with the
/// operator, its arguments and its keywords. Null until it is imported.
PyObject* trace_hook = nullptr;

PyObject* ask_hook(PyObject* op, const Call& call) {
  if (!trace_hook) return nullptr;
  nb::list args;
  for (size_t i = 0; i < call.positional; ++i)
    args.append(nb::handle(call.args[i]));
  nb::dict keywords;
  for (size_t i = 0; i < call.keyword_count(); ++i)
    keywords[nb::handle(call.keyword_name(i))] =
        nb::handle(call.keyword_value(i));
  return ask_trace(op, nb::tuple(args), keywords).release().ptr();
}

/// The operator's overloads, made when they are first asked for.
const std::vector<Signature>& signatures_of(OpObject& op) {
  if (op.signatures.empty())
    for (const Operator* overload : *op.overloads)
      op.signatures.emplace_back(*overload, op.method);
  return op.signatures;
}

PyObject* op_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf,
                        PyObject* keywords) {
  auto& op = *reinterpret_cast<OpObject*>(self);
  const Call call{args, size_t(PyVectorcall_NARGS(nargsf)), keywords};
  if (overrides::possible) [[unlikely]] {
    if (call.positional) overrides::note_question(text_data(op.name), args[0]);
    if (overrides::overridden(call)) return overrides::ask(self, call);
  }
  return guarded([&]() -> PyObject* {
    try {
      for (const Signature& signature : signatures_of(op)) {
        Values<kMaxArguments> arguments(signature.arguments());
        if (signature.bind(call, arguments.data()))
          return call_overload(signature, call, arguments.data());
      }
    } catch (const Error& e) {
      throw_named(e, text_data(op.name));
    }
    if (PyObject* result = ask_hook(self, call)) return result;
    if (overrides::overridden(call)) return overrides::ask(self, call);
    if (PyObject* result =
            call_deprecated(self, call, op.method, text_data(op.name)))
      return result;
    no_match(op.signatures, call, op.method, text_data(op.name));
  });
}

/// The name of the overload that a call like this is of; None if of none.
nb::object overload_of(nb::handle op, nb::tuple args, nb::dict keywords) {
  auto& object = *reinterpret_cast<OpObject*>(op.ptr());
  nb::list values;
  for (nb::handle value : args) values.append(value);
  for (nb::handle value : keywords.values()) values.append(value);
  const nb::tuple all(values), names(keywords.keys());
  const Call call{tuple_items(all.ptr()), args.size(),
                  names.size() ? names.ptr() : nullptr};
  for (const Signature& signature : signatures_of(object)) {
    Values<kMaxArguments> arguments(signature.arguments());
    if (!signature.bind(call, arguments.data())) continue;
    const std::string& name = signature.schema().overload;
    return nb::str(name.empty() ? "default" : name.c_str());
  }
  return nb::none();
}

void op_dealloc(PyObject* self) {
  auto* op = reinterpret_cast<OpObject*>(self);
  Py_DECREF(op->name);
  op->signatures.~vector();
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* op_descr_get(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None ||
      !reinterpret_cast<OpObject*>(self)->method)
    return Py_NewRef(self);
  return bound_method(self, object);
}

PyObject* op_repr(PyObject* self) {
  const auto& op = *reinterpret_cast<OpObject*>(self);
  return PyUnicode_FromFormat("<hotaru %s %U>",
                              op.method ? "method" : "operator", op.name);
}

PyObject* op_name(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<OpObject*>(self)->name);
}

/// Where PyTorch has it; the type's own `__module__` would hide a getter.
PyObject* op_attribute(PyObject* self, PyObject* attribute) {
  if (PyUnicode_CompareWithASCIIString(attribute, "__module__") != 0)
    return PyObject_GenericGetAttr(self, attribute);
  const std::string_view name =
      text_data(reinterpret_cast<OpObject*>(self)->name);
  for (const char* place : {"linalg", "fft", "special"})
    if (name.starts_with(std::string(place) + "_"))
      return PyUnicode_FromFormat("torch._C._%s", place);
  return PyUnicode_FromString("torch");
}

/// To those who ask, it is what PyTorch's functions are.
PyObject* op_class(PyObject*, void*) {
  return Py_NewRef(reinterpret_cast<PyObject*>(&PyCFunction_Type));
}

/// With the class that PyTorch has it in.
PyObject* op_qualified_name(PyObject* self, void*) {
  const auto& op = *reinterpret_cast<OpObject*>(self);
  return PyUnicode_FromFormat(
      "%s.%U", op.method ? "TensorBase" : "_VariableFunctionsClass", op.name);
}

PyObject* op_doc(PyObject* self, void*) {
  const auto& op = *reinterpret_cast<OpObject*>(self);
  return guarded([&] {
    std::string text;
    for (const Operator* overload : *op.overloads)
      text += overload->schema().str() + "\n";
    return PyUnicode_FromString(text.c_str());
  });
}

/// Copies are the operator itself, and pickles hold its name.
PyObject* op_reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const auto& op = *reinterpret_cast<OpObject*>(self);
    const nb::object rebuild =
        nb::module_::import_("hotaru._utils").attr("_rebuild_operator");
    return nb::make_tuple(rebuild,
                          nb::make_tuple(nb::handle(op.name), op.method))
        .release()
        .ptr();
  });
}

PyMethodDef op_methods[] = {{"__reduce__", op_reduce, METH_NOARGS, nullptr},
                            {nullptr, nullptr, 0, nullptr}};
PyGetSetDef op_getset[] = {
    {"__name__", op_name, nullptr, nullptr, nullptr},
    {"__qualname__", op_qualified_name, nullptr, nullptr, nullptr},
    {"__class__", op_class, nullptr, nullptr, nullptr},
    {"__doc__", op_doc, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef op_members[] = {{"__vectorcalloffset__", T_PYSSIZET,
                             offsetof(OpObject, vectorcall), READONLY, nullptr},
                            {nullptr, 0, 0, 0, nullptr}};

PyType_Slot op_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(op_dealloc)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(op_descr_get)},
    {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
    {Py_tp_getattro, reinterpret_cast<void*>(op_attribute)},
    {Py_tp_getset, op_getset},
    {Py_tp_methods, op_methods},
    {Py_tp_members, op_members},
    {0, nullptr}};
PyType_Spec op_spec{"hotaru._C.Op", sizeof(OpObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR,
                    op_slots};

/// Tells whether the operator is a tensor's method too: it has an argument
/// `self` that is a tensor. Decided on the text, as start-up parses no schema.
bool is_method(const Operator& op) {
  const std::string_view text = op.text();
  for (const std::string_view prefix : {"special_", "linalg_", "fft_"})
    if (text.starts_with(prefix)) return false;
  const size_t at = text.find(" self");
  if (at == std::string_view::npos) return false;
  const size_t start = text.find_last_of(
      ",(", text[at - 1] == ')' ? text.rfind('(', at) - 1 : at);
  return text.substr(start + 1, at - start).find("Tensor") !=
             std::string_view::npos &&
         text.find("Tensor[]") > at;
}

bool is_plain(std::string_view name) {
  return name.find("::") == std::string_view::npos && !name.starts_with("__");
}

PyObject* make_op(std::string_view name,
                  const std::vector<const Operator*>& overloads, bool method) {
  auto* op = reinterpret_cast<OpObject*>(PyType_GenericAlloc(op_type, 0));
  if (!op) return nullptr;
  op->vectorcall = op_vectorcall;
  new (&op->signatures) std::vector<Signature>();
  op->overloads = &overloads;
  op->name = PyUnicode_FromStringAndSize(name.data(), Py_ssize_t(name.size()));
  // As the names of attributes are, by which it is looked up.
  PyUnicode_InternInPlace(&op->name);
  op->method = method;
  return reinterpret_cast<PyObject*>(op);
}

void put(PyObject* names, PyObject* name, const nb::object& op) {
  if (!op.is_valid() || PyDict_SetItem(names, name, op.ptr()) != 0)
    throw nb::python_error();
}

}  // namespace

nb::object ask_trace(nb::handle callee, const nb::tuple& args,
                     const nb::dict& keywords) {
  if (!trace_hook) return {};
  nb::object result = nb::handle(trace_hook)(callee, args, keywords);
  return result.ptr() == Py_NotImplemented ? nb::object() : result;
}

PyObject* make_op(std::string_view name, bool method) {
  return make_op(name, Registry::instance().find(name), method);
}

void init_ops(nb::module_& m) {
  op_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&op_spec));
  if (!op_type) throw nb::python_error();
  m.attr("Op") = nb::handle(reinterpret_cast<PyObject*>(op_type));
  nb::object functions = nb::steal(PyModule_New("hotaru.ops"));
  // Straight into the dictionaries, as there are more than a thousand.
  PyObject* module_names = PyModule_GetDict(functions.ptr());
  PyObject* tensor_names = type_dict(tensor_type);
  for (std::string_view name : Registry::instance().names()) {
    if (!is_plain(name)) continue;
    const auto& overloads = Registry::instance().find(name);
    const nb::object op = nb::steal(make_op(name, overloads, false));
    PyObject* key = reinterpret_cast<OpObject*>(op.ptr())->name;
    put(module_names, key, op);
    if (is_method(*overloads.front()) && !PyDict_Contains(tensor_names, key))
      put(tensor_names, key, nb::steal(make_op(name, overloads, true)));
  }
  PyType_Modified(tensor_type);
  m.attr("ops") = functions;
  m.def("_set_trace_hook", [](nb::handle hook, nb::handle size_type) {
    trace_hook = hook.inc_ref().ptr();
    set_traced_size(size_type.ptr());
  });
  m.def("_overload_of", &overload_of);
  // Operators of other namespaces, "torchvision::nms", are no attributes.
  m.def("_operator", [](const std::string& name) {
    const auto& found = Registry::instance().find(name);
    HOTARU_CHECK(!found.empty(), "no operator is called ", name);
    return nb::steal(make_op(found.front()->name(), false));
  });
  m.def("_op_schemas", [](const std::string& name) {
    nb::list out;
    for (const Operator* op : Registry::instance().find(name))
      out.append(nb::str(op->schema().str().c_str()));
    return out;
  });
}

}  // namespace hotaru::python
