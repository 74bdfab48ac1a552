#include "bindings/ops/op_text.h"

#include <algorithm>
#include <cstring>

#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::python {
namespace {

/// Tells whether PyTorch lists `out=`: for functions whose results are new
/// tensors, and not for all of those.
bool lists_out(const Schema& schema) {
  static constexpr std::string_view kNumberFirst[] = {"pow", "xlogy",
                                                      "float_power", "isin"};
  static constexpr std::string_view kNever[] = {
      "masked_fill", "index_fill", "count_nonzero", "fill",
      "rsub",        "std_mean",   "var_mean",      "repeat_interleave"};
  static constexpr std::string_view kAlongDimensions[] = {
      "sum", "prod", "median", "nanmedian", "std", "var"};
  const auto among = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), schema.name) !=
           std::end(names);
  };
  if (schema.name == "where") return schema.overload == "self";
  if (schema.arguments.empty() || schema.results.empty() ||
      schema.name.back() == '_' || among(kNever) ||
      (schema.find("dim") < 0 && among(kAlongDimensions)) ||
      (takes_numbers(schema.name) && schema.overload.starts_with("Scalar")))
    return false;
  for (const Argument& result : schema.results)
    if (result.type.kind != ArgKind::kTensor || result.type.list ||
        result.type.alias)
      return false;
  const ArgType& first = schema.arguments.front().type;
  return first.kind == ArgKind::kTensor || among(kNumberFirst);
}

Option option_of(const Argument& a, bool method) {
  Option out{type_text(a.type), a.name, !a.default_value, a.keyword_only, ""};
  if (a.name == "self" && !method && a.type.kind == ArgKind::kTensor)
    out.name = "input";
  out.shown = out.type + " " + out.name;
  if (!a.default_value) return out;
  const Value& v = *a.default_value;
  out.shown += " = ";
  const bool none = v.is_none() || a.type.kind == ArgKind::kDType;
  out.shown += none            ? "None"
               : v.is_list()   ? "..."
               : v.is_string() ? "\"" + v.as_string() + "\""
                               : concat(v.as_scalar());
  return out;
}

}  // namespace

std::string type_text(const ArgType& type) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"ScalarType", "torch.dtype"},
      {"Scalar", "Number"},
      {"SymInt", "int"},
      {"Device", "torch.device"},
      {"Layout", "torch.layout"},
      {"Generator", "torch.Generator"},
      {"MemoryFormat", "torch.memory_format"}};
  std::string base = type.text.substr(0, type.text.find_first_of("?["));
  for (const auto& [from, to] : kNames)
    if (base == from) base = to;
  return type.list ? "tuple of " + base + "s" : base;
}

std::vector<Option> options_of(const Schema& schema, bool method) {
  std::vector<Option> out;
  for (const Argument& a : schema.arguments)
    if (!method || a.name != "self") out.push_back(option_of(a, method));
  if (method || !lists_out(schema)) return out;
  const std::string type =
      schema.results.size() > 1 ? "tuple of Tensors" : "Tensor";
  out.push_back({type, "out", false, true, type + " out = None"});
  return out;
}

std::string signature_text(const std::vector<Option>& options) {
  std::string out = "(";
  bool keyword_only = false;
  for (const Option& option : options) {
    if (out.size() > 1) out += ", ";
    if (option.keyword_only && !keyword_only) out += "*, ";
    keyword_only = option.keyword_only;
    out += option.shown;
  }
  return out + ")";
}

std::string type_name(PyObject* object) {
  if (is_tensor(object) && Py_TYPE(object) == tensor_type) return "Tensor";
  if (is_dtype(object)) return "torch.dtype";
  if (is_device(object)) return "torch.device";
  return class_name(object);
}

std::string given_text(const Call& call, bool method) {
  std::string out;
  for (size_t i = method ? 1 : 0; i < call.positional; ++i)
    out += type_name(call.args[i]) + ", ";
  for (size_t k = 0; k < call.keyword_count(); ++k)
    out += utf8(call.keyword_name(k)) + "=" + type_name(call.keyword_value(k)) +
           ", ";
  // PyTorch leaves the last comma where there is nothing but keywords.
  const bool positional = call.positional > (method ? 1 : 0);
  return positional ? out.substr(0, out.size() - 2) : out;
}

std::string mismatch_text(const std::vector<Option>& options, const Call& call,
                          bool method) {
  const size_t first = method ? 1 : 0, positional = call.positional - first;
  // As many as there are: a star counts, so that none beside one ever fits.
  const size_t count = positional + call.keyword_count();
  if (count != std::max<size_t>(options.size(), 1)) return "";
  for (const Option& option : options)
    if (option.keyword_only) return "";
  std::string unknown, types;
  std::vector<PyObject*> given(count, nullptr);
  for (size_t i = 0; i < positional; ++i) given[i] = call.args[first + i];
  for (size_t k = 0; k < call.keyword_count(); ++k) {
    size_t at = positional;
    while (at < options.size() &&
           (given[at] || !same_name(options[at].name, call.keyword_name(k))))
      ++at;
    if (at < options.size())
      given[at] = call.keyword_value(k);
    else
      unknown += (unknown.empty() ? "" : ", ") + utf8(call.keyword_name(k));
  }
  if (!unknown.empty())
    return "      didn't match because some of the keywords were incorrect: " +
           unknown + "\n";
  for (size_t i = 0; i < count; ++i) {
    const std::string name = type_name(given[i]);
    // By name, as PyTorch does here: no number is a "Number".
    const bool fits =
        i < options.size() && (name == options[i].type ||
                               (name == "int" && options[i].type == "float"));
    types += (types.empty() ? "" : ", ") + std::string(fits ? "" : "!") +
             (i < positional ? "" : options[i].name + "=") +
             elements_text(given[i]) + (fits ? "" : "!");
  }
  return "      didn't match because some of the arguments have invalid types: "
         "(" +
         types + ")\n";
}

std::string elements_text(PyObject* object) {
  if (!PyTuple_Check(object) && !PyList_Check(object)) return type_name(object);
  const bool tuple = PyTuple_Check(object);
  const Py_ssize_t n = sequence_size(object);
  std::string out = type_name(object) + (tuple ? " of (" : " of [");
  for (Py_ssize_t i = 0; i < n && i < 8; ++i)
    out += (i ? ", " : "") + type_name(sequence_item(object, i));
  if (n > 8) out += ", ...";
  return out + (tuple ? (n == 1 ? ",)" : ")") : "]");
}

std::string utf8(PyObject* text) {
  if (const char* out = text_data(text)) return out;
  PyErr_Clear();
  return "?";
}

}  // namespace hotaru::python
