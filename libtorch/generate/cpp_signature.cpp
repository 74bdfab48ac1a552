#include "generate/cpp_signature.h"

#include <array>
#include <charconv>
#include <set>

namespace hotaru::libtorch {
namespace {

std::string optional_of(const std::string& type) {
  return "::std::optional<" + type + ">";
}

/// The type of one element, as results and lists hold it; "" if C++ has none.
std::string element_type(ArgKind kind) {
  switch (kind) {
    case ArgKind::kTensor:
      return "at::Tensor";
    case ArgKind::kInt:
      return "int64_t";
    case ArgKind::kFloat:
      return "double";
    case ArgKind::kBool:
      return "bool";
    case ArgKind::kScalar:
      return "at::Scalar";
    case ArgKind::kString:
      return "c10::string_view";
    case ArgKind::kComplex:
      return "c10::complex<double>";
    case ArgKind::kDType:
      return "at::ScalarType";
    case ArgKind::kLayout:
      return "at::Layout";
    case ArgKind::kMemoryFormat:
      return "at::MemoryFormat";
    case ArgKind::kDevice:
      return "at::Device";
    case ArgKind::kGenerator:
      return "at::Generator";
    case ArgKind::kOther:
      return "";
  }
  return "";
}

/// A type that only lists of operators of PyTorch ask for; "" for the rest.
std::string rare_type(const ArgType& type) {
  if (type.list || type.optional) return "";
  if (type.text == "Storage") return "at::Storage";
  if (type.text == "Stream") return "at::Stream";
  if (type.text == "DeviceIndex") return "at::DeviceIndex";
  if (type.text == "QScheme") return "at::QScheme";
  return "";
}

std::string list_type(const ArgType& type) {
  const std::string element = element_type(type.kind);
  switch (type.kind) {
    case ArgKind::kTensor:
      if (type.optional_elements)
        return "const c10::List<::std::optional<at::Tensor>> &";
      return type.optional ? optional_of("at::TensorList") : "at::TensorList";
    case ArgKind::kInt:
      return type.optional ? "at::OptionalIntArrayRef" : "at::IntArrayRef";
    case ArgKind::kBool:
      if (type.list_size > 0)
        return "::std::array<bool," + std::to_string(type.list_size) + ">";
      [[fallthrough]];
    default: {
      const std::string list = "at::ArrayRef<" + element + ">";
      return type.optional ? optional_of(list) : list;
    }
  }
}

std::string argument_type(const ArgType& type) {
  if (type.kind == ArgKind::kOther) return rare_type(type);
  if (type.list) return list_type(type);
  const std::string element = element_type(type.kind);
  const bool by_reference =
      type.kind == ArgKind::kTensor || type.kind == ArgKind::kScalar;
  if (type.optional)
    return by_reference ? "const " + optional_of(element) + " &"
                        : optional_of(element);
  if (type.written) return element + " &";
  return by_reference ? "const " + element + " &" : element;
}

std::string number_text(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  std::string out(text.data(), end.ptr);
  if (out == "inf") return "std::numeric_limits<double>::infinity()";
  if (out == "-inf") return "-std::numeric_limits<double>::infinity()";
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

std::string dtype_text(int64_t number) {
  return std::string("at::ScalarType::") +
         scalar_type_name(dtype_from_int(number));
}

/// A default as C++ source.
std::string default_text(const ArgType& type, const Value& value) {
  if (value.is_none())
    return type.kind == ArgKind::kTensor && !type.list ? "{}"
                                                       : "::std::nullopt";
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_double()) return number_text(value.as_double());
  if (value.is_string()) return '"' + value.as_string() + '"';
  if (value.is_int()) {
    const std::string number = std::to_string(value.as_int());
    if (type.kind == ArgKind::kDType) return dtype_text(value.as_int());
    if (type.kind == ArgKind::kMemoryFormat || type.kind == ArgKind::kLayout)
      return "static_cast<" + element_type(type.kind) + ">(" + number + ")";
    return number;
  }
  if (value.is_list()) {
    const auto& items = value.as_list().items;
    ArgType element = type;
    element.list = false;
    const bool equal =
        !items.empty() && type.kind == ArgKind::kInt && type.list_size > 0 &&
        std::ranges::all_of(items,
                            [&](const Value& v) { return v.is(items[0]); });
    if (equal) return default_text(element, items[0]);
    std::string out = "{";
    for (const Value& item : items)
      out += (out.size() > 1 ? "," : "") + default_text(element, item);
    return out + "}";
  }
  return "";
}

std::string result_type(const Schema& schema) {
  std::vector<std::string> types;
  for (const Argument& result : schema.results) {
    std::string type = element_type(result.type.kind);
    if (type.empty()) type = rare_type(result.type);
    if (type.empty() || result.type.optional) return "";
    if (type == "c10::string_view") type = "::std::string";
    if (result.type.list) type = "::std::vector<" + type + ">";
    types.push_back(type);
  }
  if (types.empty()) return "void";
  if (types.size() == 1) return types[0];
  std::string out = "::std::tuple<";
  for (const std::string& type : types)
    out += (out.back() == '<' ? "" : ",") + type;
  return out + ">";
}

/// Tells whether dtype, layout, device and pin_memory start there.
bool options_at(const Schema& schema, size_t i) {
  static constexpr std::array<std::pair<const char*, ArgKind>, 4> kParts{{
      {"dtype", ArgKind::kDType},
      {"layout", ArgKind::kLayout},
      {"device", ArgKind::kDevice},
      {"pin_memory", ArgKind::kBool},
  }};
  if (i + kParts.size() > schema.arguments.size()) return false;
  for (size_t k = 0; k < kParts.size(); ++k) {
    const Argument& argument = schema.arguments[i + k];
    if (argument.name != kParts[k].first ||
        argument.type.kind != kParts[k].second)
      return false;
  }
  return true;
}

CppArgument options_argument(const Schema& schema, size_t i) {
  CppArgument out{"at::TensorOptions", "options", "{}",
                  "dtype_of(options), layout_of(options), device_of(options), "
                  "pinned_of(options)"};
  const auto& dtype = schema.arguments[i].default_value;
  if (!dtype)
    out.value = "";
  else if (dtype->is_int())
    out.value = dtype_text(dtype->as_int());
  return out;
}

/// Names of arguments that C++ or its library has taken.
std::string cpp_name(const std::string& name) {
  static const std::set<std::string> taken{"default", "float", "int", "bool"};
  return taken.count(name) ? name + "_" : name;
}

CppSignature plain(const Schema& schema, bool grouped) {
  CppSignature out{schema.name, result_type(schema), {}};
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (grouped && options_at(schema, i)) {
      out.options = int(out.arguments.size());
      out.arguments.push_back(options_argument(schema, i));
      i += 3;
      continue;
    }
    const Argument& argument = schema.arguments[i];
    const std::string name = cpp_name(argument.name);
    CppArgument cpp{argument_type(argument.type), name, "", name};
    if (argument.type.list && argument.type.list_size > 1 &&
        argument.type.kind == ArgKind::kInt)
      cpp.passed = "spread<" + std::to_string(argument.type.list_size) + ">(" +
                   name + ")";
    if (argument.default_value)
      cpp.value = default_text(argument.type, *argument.default_value);
    const bool is_self = argument.name == "self" && !argument.type.list &&
                         argument.type.kind == ArgKind::kTensor &&
                         !argument.type.optional;
    if (is_self) out.self = int(out.arguments.size());
    out.arguments.push_back(std::move(cpp));
  }
  const int self = schema.find("self");
  out.in_place = out.self >= 0 && schema.results.size() == 1 &&
                 schema.arguments[size_t(self)].type.written &&
                 schema.results[0].type.written;
  if (out.in_place) out.result = "at::Tensor &";
  return out;
}

/// Defaults stand only at the end, as C++ wants it.
void trim_defaults(CppSignature& signature) {
  bool must = false;
  for (size_t i = signature.arguments.size(); i-- > 0;) {
    if (must) signature.arguments[i].value.clear();
    must = must || signature.arguments[i].value.empty();
  }
}

bool writes_in_place(const Schema& schema) {
  const std::string& name = schema.name;
  return name.ends_with('_') && !name.ends_with("__");
}

bool makes_new_tensors(const Schema& schema) {
  if (writes_in_place(schema) || schema.results.empty()) return false;
  for (const Argument& result : schema.results)
    if (result.type.kind != ArgKind::kTensor || result.type.list ||
        result.type.alias)
      return false;
  return true;
}

bool makes_new_list(const Schema& schema) {
  if (writes_in_place(schema) || schema.results.size() != 1) return false;
  const ArgType& type = schema.results[0].type;
  return type.kind == ArgKind::kTensor && type.list && !type.alias;
}

/// X_out(out, ...), or X_outf(..., out) without defaults.
CppSignature with_out(const Schema& schema, bool in_front) {
  CppSignature out = plain(schema, true);
  std::vector<CppArgument> results;
  const size_t n = schema.results.size();
  const bool list = schema.results[0].type.list;
  const std::string base = schema.find("out") < 0 ? "out" : "result";
  for (size_t i = 0; i < n; ++i) {
    const std::string name = n == 1 ? base : base + std::to_string(i);
    results.push_back({list ? "at::TensorList" : "at::Tensor &", name, "", ""});
  }
  if (out.options >= 0) {
    auto& options = out.arguments[size_t(out.options)];
    // They are those of `out`.
    options.type.clear();
    options.passed =
        "dtype_of(out), hotaru::Value(), device_of(out), hotaru::Value()";
    if (n > 1)
      options.passed =
          "hotaru::Value(), hotaru::Value(), hotaru::Value(), hotaru::Value()";
  }
  if (!in_front)
    for (CppArgument& argument : out.arguments) argument.value.clear();
  out.arguments.insert(in_front ? out.arguments.begin() : out.arguments.end(),
                       results.begin(), results.end());
  out.name += in_front ? "_out" : "_outf";
  out.out = int(n);
  out.self = out.options = -1;
  std::string type = "::std::tuple<";
  for (size_t i = 0; i < n; ++i) type += i ? ",at::Tensor &" : "at::Tensor &";
  out.result = list ? "void" : n == 1 ? "at::Tensor &" : type + ">";
  return out;
}

}  // namespace

std::string CppSignature::key(bool method) const {
  std::string out = name + "(";
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!(method && int(i) == self) && !arguments[i].type.empty())
      out += arguments[i].type + ",";
  return out;
}

std::vector<CppSignature> cpp_signatures(const Schema& schema, std::string* why,
                                         bool lists) {
  std::vector<CppSignature> out;
  if (schema.name.find(':') != std::string::npos) {
    *why = "of another library";
    return out;
  }
  for (const Argument& argument : schema.arguments)
    if (argument_type(argument.type).empty()) {
      *why = "an argument of type " + argument.type.text;
      return out;
    }
  if (result_type(schema).empty()) {
    *why = "a result of type " + schema.results[0].type.text;
    return out;
  }
  out.push_back(plain(schema, true));
  if (out[0].options >= 0) {
    out.push_back(plain(schema, false));
    // All of the four, or there would be two of a call.
    for (CppArgument& argument : out.back().arguments) argument.value.clear();
  }
  if (makes_new_tensors(schema) || (lists && makes_new_list(schema))) {
    out.push_back(with_out(schema, true));
    out.push_back(with_out(schema, false));
  }
  for (CppSignature& signature : out) trim_defaults(signature);
  return out;
}

}  // namespace hotaru::libtorch
