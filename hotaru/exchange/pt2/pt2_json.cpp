#include "hotaru/exchange/pt2/pt2_json.h"

#include <limits>

#include "hotaru/core/checks/check.h"

namespace hotaru::exchange::pt2 {

namespace {

[[noreturn]] void wrong(const Json& value, std::string_view what,
                        std::string_view wanted) {
  fail("'", what.substr(0, 60), "' should be ", wanted, ", but is ",
       io::type_name(value));
}

}  // namespace

const Json& field(const Json& value, std::string_view name) {
  if (!value.IsObject()) wrong(value, name, "an object");
  const Json* found = io::find_member(value, name);
  HOTARU_CHECK(found, "the field '", name, "' is missing");
  return *found;
}

const Json* find(const Json& value, std::string_view name) {
  if (!value.IsObject()) wrong(value, name, "an object");
  const Json* found = io::find_member(value, name);
  return found && !found->IsNull() ? found : nullptr;
}

std::string text(const Json& value, std::string_view what) {
  if (!value.IsString()) wrong(value, what, "a string");
  return std::string(io::text_of(value));
}

int64_t integer(const Json& value, std::string_view what) {
  if (value.IsInt64()) return value.GetInt64();
  if (!value.IsUint64()) wrong(value, what, "an integer");
  fail("'", what, "' is too large for a 64-bit integer");
}

bool flag(const Json& value, std::string_view what) {
  if (!value.IsBool()) wrong(value, what, "a bool");
  return value.GetBool();
}

double real(const Json& value, std::string_view what) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value.IsNumber()) return value.GetDouble();
  const std::string_view spelled =
      value.IsString() ? io::text_of(value) : std::string_view();
  if (spelled == "Infinity") return kInfinity;
  if (spelled == "-Infinity") return -kInfinity;
  if (spelled == "NaN") return std::numeric_limits<double>::quiet_NaN();
  wrong(value, what, "a number");
}

Json::ConstArray array(const Json& value, std::string_view what) {
  if (!value.IsArray()) wrong(value, what, "an array");
  return value.GetArray();
}

Json::ConstObject object(const Json& value, std::string_view what) {
  if (!value.IsObject()) wrong(value, what, "an object");
  return value.GetObject();
}

std::pair<std::string_view, const Json*> only_field(const Json& value,
                                                    std::string_view what) {
  if (!value.IsObject() || value.MemberCount() != 1)
    wrong(value, what, "an object of one field");
  const auto& member = *value.MemberBegin();
  return {io::text_of(member.name), &member.value};
}

namespace {

using Kind = Argument::Kind;

Argument named(Kind kind, const Json& value) {
  return {.kind = kind, .text = text(field(value, "name"), "name")};
}

Argument plain(Kind kind, const Json& value) {
  Argument out{.kind = kind};
  switch (kind) {
    case Kind::kInt:
      out.integer = integer(value, "as_int");
      break;
    case Kind::kFloat:
      out.real = real(value, "as_float");
      break;
    case Kind::kBool:
      out.flag = flag(value, "as_bool");
      break;
    default:
      out.text = text(value, "as_string");
  }
  return out;
}

// A symbol's name, or a number.
Argument symbolic(Kind kind, const Json& value) {
  auto [key, held] = only_field(value, "a symbolic number");
  if (key == "as_name") return {.kind = kind, .text = text(*held, key)};
  if (key == "as_int") return plain(Kind::kInt, *held);
  if (key == "as_float") return plain(Kind::kFloat, *held);
  if (key == "as_bool") return plain(Kind::kBool, *held);
  fail("a symbolic number has the unknown form '", key, "'");
}

Argument optional_tensor(const Json& value) {
  auto [key, held] = only_field(value, "an optional tensor");
  if (key == "as_none") return {};
  HOTARU_CHECK(key == "as_tensor", "an optional tensor has the unknown form '",
               key, "'");
  return named(Kind::kTensor, *held);
}

template <class Read>
Argument list(const Json& value, std::string element, const Read& read) {
  Argument out{.kind = Kind::kList, .element = std::move(element)};
  for (const Json& item : array(value, "a list"))
    out.items.push_back(read(item));
  return out;
}

// Turns the schema's numbers into TorchScript's.
int64_t dtype_number(int64_t scalar_type) {
  constexpr int64_t kBFloat16 = 13, kUInt16 = 28, kUInt32 = 34, kUInt64 = 35;
  if (scalar_type >= 1 && scalar_type <= 12) return scalar_type - 1;
  switch (scalar_type) {
    case kBFloat16:
      return int64_t(DType::kBFloat16);
    case kUInt16:
      return int64_t(DType::kUInt16);
    case 29:
      return int64_t(DType::kFloat8E4M3FN);
    case 30:
      return int64_t(DType::kFloat8E5M2);
    case 31:
      return int64_t(DType::kFloat8E4M3FNUZ);
    case 32:
      return int64_t(DType::kFloat8E5M2FNUZ);
    case 33:
      return int64_t(DType::kFloat8E8M0FNU);
    case kUInt32:
      return int64_t(DType::kUInt32);
    case kUInt64:
      return int64_t(DType::kUInt64);
    default:
      fail("no dtype has the number ", scalar_type);
  }
}

Argument enumerator(Kind kind, const Json& value) {
  Argument out{.kind = kind};
  const int64_t number = integer(value, "an enumerator");
  if (kind == Kind::kDType) {
    out.integer = dtype_number(number);
  } else if (kind == Kind::kMemoryFormat) {
    // By the schema's numbers: contiguous, channels last (3d), preserve.
    constexpr int64_t kFormats[] = {0, 2, 3, 1};
    HOTARU_CHECK(number >= 1 && number <= 4, "no memory format has the number ",
                 number);
    out.integer = kFormats[number - 1];
  } else {
    constexpr int64_t kStrided = 7;
    HOTARU_CHECK(number == kStrided, "the program uses a layout (number ",
                 number, ") other than strided, which is not supported");
  }
  return out;
}

std::string device_text(const Json& value) {
  const std::string type = text(field(value, "type"), "type");
  const Json* index = find(value, "index");
  return index ? concat(type, ":", integer(*index, "index")) : type;
}

Argument by_names(const Json& value) {
  Argument out{.kind = Kind::kNamed};
  for (const auto& [name, item] : object(value, "arguments")) {
    out.names.emplace_back(io::text_of(name));
    out.items.push_back(read_argument(item));
  }
  return out;
}

}  // namespace

Argument read_argument(const Json& value) {
  auto [key, held] = only_field(value, "an argument");
  const Json& v = *held;
  auto each = [](Kind kind) {
    return [kind](const Json& item) { return plain(kind, item); };
  };
  auto each_symbol = [](Kind kind) {
    return [kind](const Json& item) { return symbolic(kind, item); };
  };
  auto tensor = [](const Json& item) { return named(Kind::kTensor, item); };
  if (key == "as_none") return {};
  if (key == "as_tensor") return named(Kind::kTensor, v);
  if (key == "as_tensors") return list(v, "Tensor", tensor);
  if (key == "as_int") return plain(Kind::kInt, v);
  if (key == "as_ints") return list(v, "int", each(Kind::kInt));
  if (key == "as_float") return plain(Kind::kFloat, v);
  if (key == "as_floats") return list(v, "float", each(Kind::kFloat));
  if (key == "as_bool") return plain(Kind::kBool, v);
  if (key == "as_bools") return list(v, "bool", each(Kind::kBool));
  if (key == "as_string") return plain(Kind::kString, v);
  if (key == "as_strings") return list(v, "str", each(Kind::kString));
  if (key == "as_sym_int") return symbolic(Kind::kSymInt, v);
  if (key == "as_sym_ints") return list(v, "int", each_symbol(Kind::kSymInt));
  if (key == "as_sym_float") return symbolic(Kind::kSymFloat, v);
  if (key == "as_sym_floats")
    return list(v, "float", each_symbol(Kind::kSymFloat));
  if (key == "as_sym_bool") return symbolic(Kind::kSymBool, v);
  if (key == "as_sym_bools")
    return list(v, "bool", each_symbol(Kind::kSymBool));
  if (key == "as_scalar_type") return enumerator(Kind::kDType, v);
  if (key == "as_memory_format") return enumerator(Kind::kMemoryFormat, v);
  if (key == "as_layout") return enumerator(Kind::kLayout, v);
  if (key == "as_device")
    return {.kind = Kind::kDevice, .text = device_text(v)};
  if (key == "as_optional_tensor") return optional_tensor(v);
  if (key == "as_optional_tensors")
    return list(v, "Optional[Tensor]", optional_tensor);
  if (key == "as_complex") {
    return {.kind = Kind::kComplex,
            .real = real(field(v, "real"), "real"),
            .imaginary = real(field(v, "imag"), "imag")};
  }
  if (key == "as_graph") {
    Argument out = named(Kind::kGraph, v);
    out.graph = std::make_shared<Graph>(read_graph(field(v, "graph")));
    return out;
  }
  if (key == "as_int_lists") {
    return list(v, "List[int]", [&](const Json& item) {
      return list(item, "int", each(Kind::kInt));
    });
  }
  if (key == "as_float_lists") {
    return list(v, "List[float]", [&](const Json& item) {
      return list(item, "float", each(Kind::kFloat));
    });
  }
  if (key == "as_nested_tensors") {
    return list(v, "List[Tensor]",
                [&](const Json& item) { return list(item, "Tensor", tensor); });
  }
  if (key == "as_custom_obj") return named(Kind::kObject, v);
  if (key == "as_operator")
    return {.kind = Kind::kOperator, .text = text(v, key)};
  if (key == "as_string_to_argument") return by_names(v);
  fail("an argument has the unknown form '", key.substr(0, 60), "'");
}

namespace {

// "Symbol('s77', positive=True, integer=True)" is s77.
std::string symbol_name(const std::string& expression) {
  constexpr std::string_view kBegin = "Symbol('";
  if (!expression.starts_with(kBegin)) return {};
  const size_t end = expression.find('\'', kBegin.size());
  const size_t close = expression.find(')');
  if (end == std::string::npos || close + 1 != expression.size()) return {};
  return expression.substr(kBegin.size(), end - kBegin.size());
}

Size read_size(const Json& value) {
  auto [key, held] = only_field(value, "a size");
  if (key == "as_int") return {.number = integer(*held, key)};
  HOTARU_CHECK(key == "as_expr", "a size has the unknown form '", key, "'");
  const std::string expression = text(field(*held, "expr_str"), "expr_str");
  if (std::string symbol = symbol_name(expression); !symbol.empty())
    return {.kind = Size::Kind::kSymbol, .text = std::move(symbol)};
  return {.kind = Size::Kind::kExpression, .text = expression};
}

std::vector<Size> read_sizes(const Json& value, std::string_view what) {
  std::vector<Size> out;
  for (const Json& item : array(value, what)) out.push_back(read_size(item));
  return out;
}

// The last of "L__self__,,Net;L__self___layers_0,layers.0,Layer": key, path and
// class of modules, from the outermost on.
std::string innermost_module(const Json& node) {
  const Json* metadata = find(node, "metadata");
  const Json* stack =
      metadata ? io::find_member(*metadata, "nn_module_stack") : nullptr;
  if (!stack || !stack->IsString()) return {};
  std::string_view entry = io::text_of(*stack);
  entry.remove_prefix(entry.rfind(';') + 1);  // 0 where there is none
  const size_t first = entry.find(',');
  if (first == entry.npos) return {};
  entry.remove_prefix(first + 1);
  return std::string(entry.substr(0, entry.find(',')));
}

Node read_node(const Json& value) {
  Node node;
  node.target = text(field(value, "target"), "target");
  for (const Json& input : array(field(value, "inputs"), "inputs")) {
    node.inputs.push_back({text(field(input, "name"), "name"),
                           read_argument(field(input, "arg"))});
  }
  for (const Json& output : array(field(value, "outputs"), "outputs"))
    node.outputs.push_back(read_argument(output));
  if (const Json* single = find(value, "is_hop_single_tensor_return"))
    node.single_result = flag(*single, "is_hop_single_tensor_return");
  node.module = innermost_module(value);
  return node;
}

}  // namespace

TensorMeta read_tensor_meta(const Json& value) {
  TensorMeta meta;
  meta.dtype =
      static_cast<DType>(dtype_number(integer(field(value, "dtype"), "dtype")));
  meta.sizes = read_sizes(field(value, "sizes"), "sizes");
  meta.strides = read_sizes(field(value, "strides"), "strides");
  meta.offset = read_size(field(value, "storage_offset"));
  meta.requires_grad = flag(field(value, "requires_grad"), "requires_grad");
  meta.device = device_text(field(value, "device"));
  return meta;
}

Graph read_graph(const Json& value) {
  Graph graph;
  for (const Json& input : array(field(value, "inputs"), "inputs"))
    graph.inputs.push_back(read_argument(input));
  for (const Json& output : array(field(value, "outputs"), "outputs"))
    graph.outputs.push_back(read_argument(output));
  const auto nodes = array(field(value, "nodes"), "nodes");
  graph.nodes.reserve(nodes.Size());
  for (const Json& node : nodes) graph.nodes.push_back(read_node(node));
  for (const auto& [name, meta] :
       object(field(value, "tensor_values"), "tensor_values"))
    graph.tensors.emplace(io::text_of(name), read_tensor_meta(meta));
  for (const auto& [name, size] :
       object(field(value, "sym_int_values"), "sym_int_values"))
    graph.sizes.emplace(io::text_of(name), read_size(size));
  if (const Json* single = find(value, "is_single_tensor_return"))
    graph.single_result = flag(*single, "is_single_tensor_return");
  return graph;
}

InputSpec read_input_spec(const Json& value) {
  using K = InputSpec::Kind;
  auto [key, held] = only_field(value, "an input");
  const Json& v = *held;
  if (key == "user_input")
    return {.argument = read_argument(field(v, "arg")), .target = {}};
  if (key == "constant_input") {
    return {.kind = K::kConstant,
            .argument = read_argument(field(v, "value")),
            .target = text(field(v, "name"), "name")};
  }
  auto bound = [&](K kind, std::string_view target) -> InputSpec {
    return {.kind = kind,
            .argument = named(Kind::kTensor, field(v, "arg")),
            .target = text(field(v, target), target)};
  };
  if (key == "token") {
    return {.kind = K::kToken,
            .argument = named(Kind::kTensor, field(v, "arg")),
            .target = {}};
  }
  if (key == "parameter") return bound(K::kParameter, "parameter_name");
  if (key == "tensor_constant")
    return bound(K::kTensor, "tensor_constant_name");
  if (key == "buffer") {
    InputSpec out = bound(K::kBuffer, "buffer_name");
    const Json* persistent = find(v, "persistent");
    out.persistent = !persistent || flag(*persistent, "persistent");
    return out;
  }
  fail("the program has an input of the kind '", key.substr(0, 60),
       "', which is not supported");
}

OutputSpec read_output_spec(const Json& value) {
  using K = OutputSpec::Kind;
  auto [key, held] = only_field(value, "an output");
  const Json& v = *held;
  if (key == "user_output")
    return {.argument = read_argument(field(v, "arg")), .target = {}};
  auto written = [&](K kind, std::string_view target) -> OutputSpec {
    return {.kind = kind,
            .argument = named(Kind::kTensor, field(v, "arg")),
            .target = target.empty() ? std::string()
                                     : text(field(v, target), target)};
  };
  if (key == "token") return written(K::kToken, "");
  if (key == "loss_output") return written(K::kLoss, "");
  if (key == "buffer_mutation") return written(K::kBuffer, "buffer_name");
  if (key == "parameter_mutation")
    return written(K::kParameter, "parameter_name");
  if (key == "user_input_mutation")
    return written(K::kInput, "user_input_name");
  fail("the program has an output of the kind '", key.substr(0, 60),
       "', which is not supported");
}

}  // namespace hotaru::exchange::pt2
