#include "bindings/op_call.h"

#include <nanobind/stl/string.h>
#include <structmember.h>

#include <array>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "bindings/errors.h"
#include "bindings/tensor_object.h"
#include "bindings/types.h"
#include "bindings/value_convert.h"
#include "hotaru/ops/copy.h"
#include "hotaru/ops/registry.h"

namespace hotaru::python {
namespace {

constexpr size_t kMaxArguments = 24;
constexpr size_t kMaxResults = 8;
// Elements from which a call is worth letting other Python threads run.
constexpr int64_t kReleaseGil = 1 << 15;

struct OpObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  const std::vector<const Operator*>* overloads;
  PyObject* name;
  bool method;
};

PyTypeObject* op_type = nullptr;

/// A call's arguments as CPython passes them.
struct Call {
  PyObject* const* args;
  size_t positional;
  PyObject* keywords;  // names, or null
  size_t keyword_count() const {
    return keywords ? size_t(PyTuple_GET_SIZE(keywords)) : 0;
  }
  PyObject* keyword_name(size_t i) const {
    return PyTuple_GET_ITEM(keywords, Py_ssize_t(i));
  }
  PyObject* keyword_value(size_t i) const { return args[positional + i]; }
};

/// Names under which numpy's users pass an argument, and `input`, the
/// functions' name for self.
bool same_name(const std::string& parameter, PyObject* keyword) {
  const char* given = PyUnicode_AsUTF8(keyword);
  if (!given) return false;
  if (parameter == given) return true;
  struct Alias {
    const char *parameter, *alias;
  };
  static constexpr Alias kAliases[] = {{"self", "input"},
                                       {"dim", "axis"},
                                       {"keepdim", "keepdims"},
                                       {"self", "x"},
                                       {"other", "x2"}};
  for (const Alias& a : kAliases)
    if (parameter == a.parameter && std::strcmp(given, a.alias) == 0)
      return true;
  return false;
}

/// Position of the argument that a method's own tensor stands for.
size_t self_position(const Schema& schema) {
  const int at = schema.find("self");
  return at < 0 ? 0 : size_t(at);
}

/// Whether f(2, 3) may stand for f((2, 3)): one list of any length, and
/// nothing but it is positional.
bool takes_varargs(const Schema& schema, bool method, size_t* at) {
  const size_t self = method ? self_position(schema) : schema.arguments.size();
  size_t positional = 0;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& a = schema.arguments[i];
    if (i == self || a.keyword_only) continue;
    if (!method && a.type.kind == ArgKind::kTensor && !a.type.list) continue;
    ++positional;
    if (positional == 1 && a.type.list && a.type.kind == ArgKind::kInt)
      *at = i;
    else
      return false;
  }
  return positional == 1;
}

enum class Outcome { kBound, kMismatch };

/// Binds Python's arguments to a schema's. On a mismatch nothing is raised.
class Binder {
 public:
  Binder(const Schema& schema, const Call& call, bool method)
      : schema_(schema), call_(call), method_(method) {}

  Outcome bind(Value* values) {
    const size_t n = schema_.arguments.size();
    if (n > kMaxArguments) return Outcome::kMismatch;
    std::array<bool, kMaxArguments> present{};
    if (!bind_positional(values, present)) return Outcome::kMismatch;
    if (!bind_keywords(values, present)) return Outcome::kMismatch;
    for (size_t i = 0; i < n; ++i) {
      if (present[i]) continue;
      const Argument& a = schema_.arguments[i];
      if (a.default_value)
        values[i] = *a.default_value;
      else if (a.keyword_only && a.type.optional)
        values[i] = Value();
      else
        return Outcome::kMismatch;
    }
    return Outcome::kBound;
  }

 private:
  using Present = std::array<bool, kMaxArguments>;

  bool take(size_t i, PyObject* object, Value* values, Present& present) {
    if (present[i]) return false;
    present[i] = true;
    return to_value(object, schema_.arguments[i].type, &values[i]);
  }

  bool bind_positional(Value* values, Present& present) {
    size_t given = 0;
    if (method_) {
      if (call_.positional == 0) return false;
      if (!take(self_position(schema_), call_.args[given++], values, present))
        return false;
    }
    size_t list = 0;
    const bool varargs = takes_varargs(schema_, method_, &list);
    for (size_t i = 0; given < call_.positional; ++i) {
      while (i < schema_.arguments.size() && present[i]) ++i;
      if (i == schema_.arguments.size() || schema_.arguments[i].keyword_only)
        return false;
      if (varargs && i == list && starts_integers(given))
        return take_rest(i, given, values, present);
      if (!take(i, call_.args[given++], values, present)) return false;
    }
    return true;
  }

  bool starts_integers(size_t at) const {
    PyObject* first = call_.args[at];
    return PyLong_Check(first) || (is_tensor(first) && !PyBool_Check(first)) ||
           (!PySequence_Check(first) && PyIndex_Check(first));
  }

  bool take_rest(size_t i, size_t from, Value* values, Present& present) {
    std::vector<Value> items;
    ArgType element = schema_.arguments[i].type;
    element.list = false;
    for (size_t k = from; k < call_.positional; ++k)
      if (!to_value(call_.args[k], element, &items.emplace_back()))
        return false;
    values[i] = Value::list(std::move(items));
    present[i] = true;
    return true;
  }

  bool bind_keywords(Value* values, Present& present) {
    for (size_t k = 0; k < call_.keyword_count(); ++k) {
      size_t i = 0;
      while (i < schema_.arguments.size() &&
             !same_name(schema_.arguments[i].name, call_.keyword_name(k)))
        ++i;
      if (i == schema_.arguments.size()) {
        if (ignorable(call_.keyword_name(k), call_.keyword_value(k))) continue;
        return false;
      }
      if (!take(i, call_.keyword_value(k), values, present)) return false;
    }
    return true;
  }

  /// Keywords that Python's side handles, or that ask for the default.
  static bool ignorable(PyObject* name, PyObject* value) {
    const char* text = PyUnicode_AsUTF8(name);
    return text &&
           (std::strcmp(text, "requires_grad") == 0 ||
            (std::strcmp(text, "out") == 0) ||
            (std::strcmp(text, "memory_format") == 0) ||
            (std::strcmp(text, "pin_memory") == 0 && value == Py_False));
  }

  const Schema& schema_;
  const Call& call_;
  bool method_;
};

// --- results -----------------------------------------------------------------

/// A named tuple type for results with names: torch.return_types.max.
PyObject* named_results(const Operator& op, PyObject** items, size_t n) {
  static auto* types = new std::unordered_map<const Operator*, PyTypeObject*>;
  PyTypeObject*& type = (*types)[&op];
  const Schema& schema = op.schema();
  if (!type) {
    // Kept for the process's life, with the texts it points to.
    auto* names =
        new std::vector<std::string>{"torch.return_types." + schema.name};
    for (const Argument& r : schema.results) names->push_back(r.name);
    auto* fields = new std::vector<PyStructSequence_Field>;
    for (size_t i = 1; i < names->size(); ++i)
      fields->push_back({(*names)[i].c_str(), ""});
    fields->push_back({nullptr, nullptr});
    auto* desc = new PyStructSequence_Desc{(*names)[0].c_str(), "",
                                           fields->data(), int(n)};
    type = PyStructSequence_NewType(desc);
    if (!type) return nullptr;
  }
  PyObject* out = PyStructSequence_New(type);
  for (size_t i = 0; i < n; ++i)
    PyStructSequence_SET_ITEM(out, Py_ssize_t(i), items[i]);
  return out;
}

PyObject* convert_results(const Operator& op, Value* results) {
  const Schema& schema = op.schema();
  const size_t n = schema.results.size();
  if (n == 1) {
    if (schema.results[0].type.kind == ArgKind::kDType && results[0].is_int())
      return dtype_object(dtype_from_int(results[0].as_int())).release().ptr();
    if (schema.results[0].type.list &&
        schema.results[0].type.kind == ArgKind::kTensor && results[0].is_list())
      return to_python(Value::tuple(results[0].as_list().items));
    return to_python(results[0]);
  }
  if (n == 0) Py_RETURN_NONE;
  std::array<PyObject*, kMaxResults> items;
  for (size_t i = 0; i < n; ++i) items[i] = to_python(results[i]);
  if (!schema.results[0].name.empty())
    return named_results(op, items.data(), n);
  PyObject* tuple = PyTuple_New(Py_ssize_t(n));
  for (size_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(tuple, Py_ssize_t(i), items[i]);
  return tuple;
}

/// out=: the result is written into a tensor of the caller's, resized to fit.
void write_out(const Tensor& out, const Tensor& result) {
  HOTARU_CHECK(can_cast(result.dtype(), out.dtype()), "result type ",
               scalar_type_name(result.dtype()),
               " can't be cast to the desired output type ",
               scalar_type_name(out.dtype()));
  resize_(out, result.sizes());
  copy_(out, result);
}

PyObject* keyword(const Call& call, const char* name) {
  for (size_t k = 0; k < call.keyword_count(); ++k)
    if (PyUnicode_CompareWithASCIIString(call.keyword_name(k), name) == 0)
      return call.keyword_value(k);
  return nullptr;
}

PyObject* finish_out(PyObject* out, const Operator& op, Value* results) {
  const size_t n = op.schema().results.size();
  if (is_tensor(out)) {
    write_out(tensor_of(out), results[0].as_tensor());
  } else {
    HOTARU_CHECK_AS(TypeError,
                    PyTuple_Check(out) && size_t(PyTuple_GET_SIZE(out)) == n,
                    op.name(),
                    "(): argument 'out' must be a Tensor or a tuple "
                    "of ",
                    n, " Tensors, not ", Py_TYPE(out)->tp_name);
    for (size_t i = 0; i < n; ++i)
      write_out(tensor_of(PyTuple_GET_ITEM(out, Py_ssize_t(i))),
                results[i].as_tensor());
  }
  return Py_NewRef(out);
}

void set_requires_grad(PyObject* tensor, PyObject* flag) {
  if (flag && PyObject_IsTrue(flag) == 1 && is_tensor(tensor) &&
      PyObject_SetAttrString(tensor, "requires_grad", Py_True) < 0)
    throw nb::python_error();
}

// --- errors ------------------------------------------------------------------

std::string parameter_text(const Argument& a, bool method) {
  std::string type = a.type.text;
  for (const auto& [from, to] : {std::pair{"Scalar", "Number"},
                                 {"SymInt", "int"},
                                 {"ScalarType", "torch.dtype"},
                                 {"Device", "torch.device"},
                                 {"Layout", "torch.layout"},
                                 {"Generator", "torch.Generator"},
                                 {"MemoryFormat", "torch.memory_format"}}) {
    const size_t at = type.find(from);
    if (at == 0 &&
        !(std::string(from) == "Scalar" && type.starts_with("ScalarType")))
      type.replace(0, std::strlen(from), to);
  }
  std::string out;
  const std::string base = type.substr(0, type.find_first_of("?["));
  if (type.find('[') != std::string::npos)
    out = a.type.kind == ArgKind::kTensor ? "tuple of Tensors"
                                          : "tuple of " + base + "s";
  else
    out = base;
  return out + " " + (a.name == "self" && !method ? "input" : a.name);
}

std::string signature_text(const Schema& schema, bool method) {
  std::string out = "(";
  bool keyword_only = false;
  for (const Argument& a : schema.arguments) {
    if (method && a.name == "self") continue;
    if (out.size() > 1) out += ", ";
    if (a.keyword_only && !keyword_only) out += "*, ";
    keyword_only = a.keyword_only;
    out += parameter_text(a, method);
    if (a.default_value) {
      const Value& v = *a.default_value;
      out += " = ";
      out += v.is_none()     ? "None"
             : v.is_list()   ? "..."
             : v.is_string() ? "\"" + v.as_string() + "\""
                             : concat(v.as_scalar());
    }
  }
  return out + ")";
}

std::string type_text(PyObject* object) {
  const auto name = [](PyObject* o) -> std::string {
    if (is_tensor(o) && Py_TYPE(o) == tensor_type) return "Tensor";
    if (is_dtype(o)) return "torch.dtype";
    if (is_device(o)) return "torch.device";
    const char* text = Py_TYPE(o)->tp_name;
    const char* dot = std::strrchr(text, '.');
    return dot ? dot + 1 : text;
  };
  if (!PyTuple_Check(object) && !PyList_Check(object)) return name(object);
  std::string out = PyTuple_Check(object) ? "tuple of (" : "list of [";
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  if (n == 0) return PyTuple_Check(object) ? "tuple" : "list";
  for (Py_ssize_t i = 0; i < n && i < 8; ++i)
    out += (i ? ", " : "") + name(PySequence_Fast_GET_ITEM(object, i));
  if (n > 8) out += ", ...";
  return out + (PyTuple_Check(object) ? (n == 1 ? ",)" : ")") : "]");
}

std::string given_text(const Call& call, bool method) {
  std::string out;
  for (size_t i = method ? 1 : 0; i < call.positional; ++i)
    out += (out.empty() ? "" : ", ") + type_text(call.args[i]);
  for (size_t k = 0; k < call.keyword_count(); ++k)
    out += (out.empty() ? "" : ", ") +
           std::string(PyUnicode_AsUTF8(call.keyword_name(k))) + "=" +
           type_text(call.keyword_value(k));
  return out;
}

/// What is wrong with the arguments of an operator of a single signature.
std::string single_error(const Schema& schema, const Call& call, bool method,
                         const std::string& name) {
  size_t given = method ? 1 : 0, position = 1;
  for (const Argument& a : schema.arguments) {
    if (method && a.name == "self") continue;
    const std::string shown = a.name == "self" ? "input" : a.name;
    PyObject* object = nullptr;
    if (given < call.positional && !a.keyword_only)
      object = call.args[given++];
    else
      for (size_t k = 0; k < call.keyword_count(); ++k)
        if (same_name(a.name, call.keyword_name(k)))
          object = call.keyword_value(k);
    if (!object) {
      if (a.default_value || (a.keyword_only && a.type.optional)) continue;
      return concat(name, "() missing 1 required positional arguments: \"",
                    shown, "\"");
    }
    Value ignored;
    if (!to_value(object, a.type, &ignored)) {
      std::string wanted = parameter_text(a, method);
      wanted.resize(wanted.rfind(' '));
      return concat(name, "(): argument '", shown, "' (position ", position,
                    ") must be ", wanted, ", not ", type_text(object));
    }
    ++position;
  }
  if (given < call.positional)
    return concat(name, "() takes ", position - 1, " positional argument",
                  position == 2 ? "" : "s", " but ",
                  call.positional - (method ? 1 : 0), " were given");
  for (size_t k = 0; k < call.keyword_count(); ++k) {
    bool known = false;
    for (const Argument& a : schema.arguments)
      known |= same_name(a.name, call.keyword_name(k));
    if (!known)
      return concat(name, "() got an unexpected keyword argument '",
                    PyUnicode_AsUTF8(call.keyword_name(k)), "'");
  }
  return name + "(): invalid arguments";
}

[[noreturn]] void no_match(const OpObject& op, const Call& call) {
  const std::string name = PyUnicode_AsUTF8(op.name);
  if (op.overloads->size() == 1)
    fail<TypeError>(
        single_error(op.overloads->front()->schema(), call, op.method, name));
  std::string text = name +
                     "() received an invalid combination of arguments "
                     "- got (" +
                     given_text(call, op.method) + "), but expected one of:\n";
  for (const Operator* overload : *op.overloads)
    text += " * " + signature_text(overload->schema(), op.method) + "\n";
  fail<TypeError>(text);
}

// --- the call ----------------------------------------------------------------

bool is_large(const Value* values, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (values[i].is_tensor() && values[i].tensor_ref().numel() >= kReleaseGil)
      return true;
  return false;
}

void run(const Operator& op, Value* arguments, size_t n, Value* results) {
  if (!is_large(arguments, n)) return op.call(arguments, results);
  const nb::gil_scoped_release release;
  op.call(arguments, results);
}

PyObject* op_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf,
                        PyObject* keywords) {
  const auto& op = *reinterpret_cast<OpObject*>(self);
  const Call call{args, size_t(PyVectorcall_NARGS(nargsf)), keywords};
  return guarded([&]() -> PyObject* {
    Value arguments[kMaxArguments];
    Value results[kMaxResults];
    for (const Operator* overload : *op.overloads) {
      const Schema& schema = overload->schema();
      if (Binder(schema, call, op.method).bind(arguments) != Outcome::kBound)
        continue;
      run(*overload, arguments, schema.arguments.size(), results);
      if (!keywords) return convert_results(*overload, results);
      if (PyObject* out = keyword(call, "out"); out && out != Py_None)
        return finish_out(out, *overload, results);
      PyObject* result = convert_results(*overload, results);
      set_requires_grad(result, keyword(call, "requires_grad"));
      return result;
    }
    no_match(op, call);
  });
}

void op_dealloc(PyObject* self) {
  Py_DECREF(reinterpret_cast<OpObject*>(self)->name);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* op_descr_get(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None ||
      !reinterpret_cast<OpObject*>(self)->method)
    return Py_NewRef(self);
  return PyMethod_New(self, object);
}

PyObject* op_repr(PyObject* self) {
  const auto& op = *reinterpret_cast<OpObject*>(self);
  return PyUnicode_FromFormat("<hotaru %s %U>",
                              op.method ? "method" : "operator", op.name);
}

PyObject* op_name(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<OpObject*>(self)->name);
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

PyGetSetDef op_getset[] = {{"__name__", op_name, nullptr, nullptr, nullptr},
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
    {Py_tp_getset, op_getset},
    {Py_tp_members, op_members},
    {0, nullptr}};
PyType_Spec op_spec{"hotaru._C.Op", sizeof(OpObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR,
                    op_slots};

/// Whether the operator is a tensor's method too: it has an argument `self`
/// that is a tensor. Decided on the text, as start-up parses no schema.
bool is_method(const Operator& op) {
  const std::string_view text = op.text();
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

}  // namespace

PyObject* make_op(std::string_view name, bool method) {
  auto* op = reinterpret_cast<OpObject*>(op_type->tp_alloc(op_type, 0));
  if (!op) return nullptr;
  op->vectorcall = op_vectorcall;
  op->overloads = &Registry::instance().find(name);
  op->name = PyUnicode_FromStringAndSize(name.data(), Py_ssize_t(name.size()));
  op->method = method;
  return reinterpret_cast<PyObject*>(op);
}

void init_ops(nb::module_& m) {
  op_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&op_spec));
  if (!op_type) throw nb::python_error();
  nb::object functions = nb::steal(PyModule_New("hotaru.ops"));
  const nb::handle tensor(reinterpret_cast<PyObject*>(tensor_type));
  for (std::string_view name : Registry::instance().names()) {
    if (!is_plain(name)) continue;
    const std::string text(name);
    const Operator& op = *Registry::instance().find(name).front();
    functions.attr(text.c_str()) = nb::steal(make_op(op.name(), false));
    if (is_method(op) && !nb::hasattr(tensor, text.c_str()))
      nb::setattr(tensor, text.c_str(), nb::steal(make_op(op.name(), true)));
  }
  m.attr("ops") = functions;
  m.def("_op_schemas", [](const std::string& name) {
    nb::list out;
    for (const Operator* op : Registry::instance().find(name))
      out.append(nb::str(op->schema().str().c_str()));
    return out;
  });
}

}  // namespace hotaru::python
