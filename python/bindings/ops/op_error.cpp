#include "bindings/ops/op_error.h"

#include <cstring>

#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"

namespace hotaru::python {
namespace {

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

std::string utf8(PyObject* text) {
  if (const char* out = PyUnicode_AsUTF8(text)) return out;
  PyErr_Clear();
  return "?";
}

std::string given_text(const Call& call, bool method) {
  std::string out;
  for (size_t i = method ? 1 : 0; i < call.positional; ++i)
    out += (out.empty() ? "" : ", ") + type_text(call.args[i]);
  for (size_t k = 0; k < call.keyword_count(); ++k)
    out += (out.empty() ? "" : ", ") + utf8(call.keyword_name(k)) + "=" +
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
    if (!stands_for_default(object, a) && !to_value(object, a.type, &ignored)) {
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
                    utf8(call.keyword_name(k)), "'");
  }
  return name + "(): invalid arguments";
}

}  // namespace

void no_match(const std::vector<Signature>& signatures, const Call& call,
              bool method, const std::string& name) {
  // A number stands for a tensor where both are overloads: one signature to
  // the user.
  std::vector<const Schema*> shown;
  for (const Signature& s : signatures)
    if (s.schema().overload != "Scalar" || signatures.size() == 1)
      shown.push_back(&s.schema());
  if (shown.size() == 1)
    fail<TypeError>(single_error(*shown.front(), call, method, name));
  std::string text = name +
                     "() received an invalid combination of arguments - got (" +
                     given_text(call, method) + "), but expected one of:\n";
  for (const Schema* schema : shown)
    text += " * " + signature_text(*schema, method) + "\n";
  fail<TypeError>(text);
}

}  // namespace hotaru::python
