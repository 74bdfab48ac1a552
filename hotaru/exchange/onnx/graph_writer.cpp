#include "hotaru/exchange/onnx/graph_writer.h"

#include <algorithm>
#include <array>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/script/archive/literal.h"

namespace hotaru::exchange::onnx {

using io::onnx::Attribute;
using io::onnx::ValueInfo;
using Role = ModuleTree::Role;

namespace {

// Functions that call each other, and nodes with all that they expand to.
constexpr int kMaxDepth = 50;
// Beside what a file of the model's size may ask for: a function that calls
// another twice, and so on, is short.
constexpr size_t kBaseNodes = 100'000, kBytesOfNode = 8;
constexpr size_t kBaseText = size_t{32} << 20, kTextOfByte = 8;

Kind declared_kind(const ValueInfo& info) {
  switch (info.kind) {
    case ValueInfo::Kind::kSequence:
      return Kind::kTensors;
    case ValueInfo::Kind::kOptional:
      return info.of_sequence ? Kind::kMaybeTensors : Kind::kMaybeTensor;
    case ValueInfo::Kind::kOther:
      return Kind::kMissing;
    default:
      return Kind::kTensor;
  }
}

// A name of the file as one of the program.
std::string identifier(const std::string& name) {
  std::string out;
  for (char c : name.substr(0, 60)) {
    bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                (c >= '0' && c <= '9') || c == '_';
    out += word ? c : '_';
  }
  const std::array<std::string_view, 3> taken = {"self", "torch", "annotate"};
  bool own = !out.starts_with('_') && script::is_identifier(out) &&
             std::find(taken.begin(), taken.end(), out) == taken.end();
  return own ? out : "x" + out;
}

}  // namespace

GraphWriter::GraphWriter(io::onnx::OnnxFile& file, Operators& operators,
                         ModuleTree& tree)
    : file_(file), operators_(operators), tree_(tree) {
  for (const io::onnx::Function& function : file.model().functions)
    functions_[{function.domain, function.name}] = &function;
  for (const Node& node : file.model().graph.nodes) {
    if (node.op != "BatchNormalization") continue;
    for (size_t i = 3; i < node.inputs.size(); ++i)
      statistics_.insert(node.inputs[i]);
  }
}

const Operand* GraphWriter::Scope::find(const std::string& name) const {
  for (const Scope* scope = this; scope; scope = scope->parent) {
    auto found = scope->values.find(name);
    if (found != scope->values.end()) return &found->second;
  }
  return nullptr;
}

std::string GraphWriter::where(const Node& node) const {
  return concat(
      file_.name(), ": node '",
      node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name,
      "' (", node.domain, node.domain.empty() ? "" : ".", node.op, ")");
}

void GraphWriter::line(const std::string& text) {
  letters_ += text.size();
  const size_t most = kBaseText + file_.size() * kTextOfByte;
  HOTARU_CHECK(letters_ <= most, file_.name(), ": the program would have more ",
               "than ", most, " letters");
  text_.append(indent_ * 2, ' ');
  text_ += text;
  text_ += '\n';
}

Operand GraphWriter::variable(Kind kind) {
  return {.kind = kind, .text = concat("_", names_++)};
}

Operand GraphWriter::constant(Tensor tensor, std::string name, Role role) {
  return {.kind = Kind::kTensor,
          .constant = std::make_shared<Constant>(
              Constant{std::move(tensor), std::move(name), role})};
}

Operand GraphWriter::input(const Node& node, size_t i,
                           const Scope& scope) const {
  if (i >= node.inputs.size() || node.inputs[i].empty()) return {};
  const Operand* found = scope.find(node.inputs[i]);
  HOTARU_CHECK(found, where(node), ": there is no value '", node.inputs[i],
               "' before it");
  return *found;
}

void GraphWriter::set(const Node& node, size_t i, Operand value, Scope& scope) {
  if (i < node.outputs.size() && !node.outputs[i].empty())
    scope.values[node.outputs[i]] = std::move(value);
}

void GraphWriter::add_initializers(const Graph& graph, Scope& scope, bool top) {
  for (const io::onnx::TensorProto& each : graph.initializers) {
    Operand value = read_constant(each, each.name, Role::kBuffer);
    const Tensor& tensor = value.constant->tensor;
    bool parameter = top && tensor.is_floating_point() && tensor.dim() > 0 &&
                     tensor.numel() > 1 && value.small == 0 &&
                     !statistics_.count(each.name);
    if (parameter) value.constant->role = Role::kParameter;
    scope.values[each.name] = std::move(value);
  }
}

Operand GraphWriter::read_constant(const io::onnx::TensorProto& tensor,
                                   std::string name, Role role) {
  Operand out = constant(file_.read(tensor), std::move(name), role);
  const DType dtype = out.constant->tensor.dtype();
  // A message is read again only where its type may be a small one.
  if (dtype == DType::kUInt8 || dtype == DType::kInt8 ||
      dtype == DType::kFloat8E4M3FN || dtype == DType::kBFloat16) {
    const int64_t type = file_.info(tensor).data_type;
    if (io::onnx::is_small(type)) out.small = type;
  }
  return out;
}

// Inputs that have a value in the file are constants, as IR version 3 writes
// all of them.
std::string GraphWriter::parameters(Scope& scope) {
  std::string out = "self";
  std::set<std::string> taken;
  for (const ValueInfo& each : file_.model().graph.inputs) {
    if (scope.values.count(each.name)) continue;
    Kind kind = declared_kind(each);
    HOTARU_CHECK(kind != Kind::kMissing, file_.name(), ": input '", each.name,
                 "' is of a type that hotaru has not (a map, a sparse tensor, "
                 "a sequence of sequences)");
    std::string name = identifier(each.name);
    while (!taken.insert(name).second) name += "_";
    out += concat(", ", name, ": ", type_text(kind));
    scope.values[each.name] = {
        .kind = kind,
        .text = name,
        .small = io::onnx::is_small(each.elem_type) ? each.elem_type : 0};
  }
  return out;
}

std::string GraphWriter::forward() {
  const io::onnx::Model& model = file_.model();
  Scope scope{.opsets = &model.opsets};
  add_initializers(model.graph, scope, true);
  const std::string head = concat("def forward(", parameters(scope), "):\n");
  write(model.graph.nodes, scope);
  if (!missing_.empty()) {
    std::string list;
    for (const auto& [op, count] : missing_)
      list += concat(list.empty() ? "" : ", ", op, " (", count, ")");
    fail<NotImplementedError>(file_.name(),
                              ": hotaru has not these operators: ", list);
  }
  std::string results;
  for (const ValueInfo& each : model.graph.outputs) {
    const Operand* value = scope.find(each.name);
    HOTARU_CHECK(value, file_.name(), ": no node gives output '", each.name,
                 "'");
    Kind kind = joined(value->kind, value->kind == Kind::kInt ||
                                            value->kind == Kind::kInts ||
                                            value->kind == Kind::kBool
                                        ? Kind::kTensor
                                        : value->kind);
    if (kind == Kind::kNone) kind = declared_kind(each);
    results +=
        concat(results.empty() ? "" : ", ", argument(*value, kind, tree_));
  }
  bool one = model.graph.outputs.size() == 1;
  line(concat("return ", one ? "" : "(", results, one ? "" : ",)"));
  return head + input_checks(scope) + device_line(scope) + text_;
}

// Where the module's tensors are, or else the inputs.
std::string GraphWriter::device_line(const Scope& scope) const {
  if (text_.find(kDevice) == std::string::npos) return "";
  std::string tensor;
  for (const auto& [name, value] : scope.values) {
    if (!value.constant || value.constant->expression.empty()) continue;
    tensor = value.constant->expression;
    break;
  }
  for (const ValueInfo& each : file_.model().graph.inputs) {
    if (!tensor.empty()) break;
    const Operand* value = scope.find(each.name);
    if (value && !value->constant && value->kind == Kind::kTensor)
      tensor = value->text;
  }
  return concat("  ", kDevice, " = ",
                tensor.empty() ? "torch.device(\"cpu\")" : tensor + ".device",
                "\n");
}

void GraphWriter::write(const std::vector<Node>& nodes, Scope& scope) {
  for (const Node& node : nodes) {
    const size_t most = kBaseNodes + file_.size() / kBytesOfNode;
    HOTARU_CHECK(++written_ <= most, file_.name(), ": more than ", most,
                 " nodes, those of functions counted as often as they are "
                 "called");
    write(node, scope);
  }
}

void GraphWriter::write(const Node& given, Scope& scope) {
  const Node* node = &given;
  // In a function's body attributes may be those of the call.
  Node resolved;
  auto refers = [](const Attribute& a) { return !a.reference.empty(); };
  if (std::any_of(given.attributes.begin(), given.attributes.end(), refers)) {
    resolved = given;
    resolved.attributes.clear();
    for (const Attribute& each : given.attributes) {
      if (!refers(each)) {
        resolved.attributes.push_back(each);
        continue;
      }
      HOTARU_CHECK(scope.attributes, where(given), ": attribute '", each.name,
                   "' refers to a function's, and this is in none");
      for (const Attribute& own : *scope.attributes) {
        if (own.name != each.reference) continue;
        resolved.attributes.push_back(own);
        resolved.attributes.back().name = each.name;
      }
    }
    node = &resolved;
  }
  for (const std::string& name : node->inputs) {
    const Operand* value = name.empty() ? nullptr : scope.find(name);
    if (!value || value->kind != Kind::kMissing) continue;
    if (!is_known(*node, scope)) ++missing_[full_name(*node)];
    for (size_t i = 0; i < node->outputs.size(); ++i)
      set(*node, i, {.kind = Kind::kMissing}, scope);
    return;
  }
  if (!write_special(*node, scope)) write_call(*node, scope);
}

// Names of operators and functions alone, of nodes that cannot be written.
bool GraphWriter::is_known(const Node& node, const Scope& scope) {
  constexpr std::array<std::string_view, 5> kFlow = {"Constant", "If", "Loop",
                                                     "Scan", "SequenceMap"};
  return functions_.count({node.domain, node.op}) ||
         std::find(kFlow.begin(), kFlow.end(), node.op) != kFlow.end() ||
         !functions_of(node, scope).empty();
}

bool GraphWriter::write_special(const Node& node, Scope& scope) {
  if (write_function(node, scope)) return true;
  if (node.op == "FlexAttention" && write_flex_attention(node, scope))
    return true;
  if (!node.domain.empty()) return false;
  if (node.op == "Constant") return write_constant(node, scope);
  if (node.op == "If") return write_if(node, scope), true;
  if (node.op == "Loop") return write_loop(node, scope), true;
  if (node.op == "Scan") return write_scan(node, scope), true;
  if (node.op == "SequenceMap") return write_sequence_map(node, scope), true;
  if (node.op == "Identity" && node.inputs.size() == 1)
    return set(node, 0, input(node, 0, scope), scope), true;
  if (node.op == "Cast" && node.inputs.size() == 1)
    return write_cast(node, scope);
  if (node.op == "Optional") {
    Operand value = input(node, 0, scope);
    // An empty one says of which type it would be.
    const Attribute* type = node.find("type");
    const bool declared =
        type && type->declared.kind == ValueInfo::Kind::kSequence;
    const bool sequence =
        value.kind == Kind::kNone ? declared : value.kind == Kind::kTensors;
    Kind kind = joined(Kind::kNone, sequence ? Kind::kTensors : Kind::kTensor);
    Operand result = variable(kind);
    line(concat(result.text, " = ", argument(value, kind, tree_)));
    return set(node, 0, result, scope), true;
  }
  return false;
}

// Numbers of the host stay there as int64 and int32; to anything else they
// become tensors.
bool GraphWriter::write_cast(const Node& node, Scope& scope) {
  const Attribute* wanted = node.find("to");
  const auto dtype = wanted ? io::onnx::dtype_of(wanted->i) : std::nullopt;
  if (dtype != DType::kInt64 && dtype != DType::kInt32) return false;
  Operand value = input(node, 0, scope);
  const bool number = value.kind == Kind::kInt || value.kind == Kind::kInts;
  if (number) {
    value.dtype = *dtype;
  } else if (value.kind == Kind::kBool) {
    value = {.kind = Kind::kInt,
             .text = concat("int(", value.text, ")"),
             .dtype = *dtype};
  } else if (is_short(value,
                      dtype == DType::kInt64 ? DType::kInt32 : DType::kInt64)) {
    value =
        constant(to(value.constant->tensor, *dtype),
                 node.outputs.empty() ? "" : node.outputs[0], Role::kBuffer);
  } else if (dtype != DType::kInt64 || value.host_kind() == Kind::kTensor) {
    return false;
  }
  set(node, 0, value, scope);
  return true;
}

bool GraphWriter::write_constant(const Node& node, Scope& scope) {
  HOTARU_CHECK(node.attributes.size() == 1, where(node), ": has ",
               node.attributes.size(), " values");
  const Attribute& value = node.attributes[0];
  if (value.type == Attribute::Type::kTensor) {
    const std::string name = node.outputs.empty() ? "" : node.outputs[0];
    set(node, 0, read_constant(value.tensors[0], name, Role::kBuffer), scope);
    return true;
  }
  auto numbers = [&](auto* data, size_t count, DType dtype, bool list) {
    const Dims sizes = list ? Dims{int64_t(count)} : Dims{};
    Tensor tensor = empty(sizes, dtype);
    std::copy_n(data, count,
                tensor.data<std::remove_cvref_t<decltype(*data)>>());
    return tensor;
  };
  Tensor tensor;
  switch (value.type) {
    case Attribute::Type::kSparse:
      tensor = file_.read(value.tensors[0]);
      break;
    case Attribute::Type::kInt:
      tensor = numbers(&value.i, 1, DType::kInt64, false);
      break;
    case Attribute::Type::kInts:
      tensor =
          numbers(value.ints.data(), value.ints.size(), DType::kInt64, true);
      break;
    case Attribute::Type::kFloat:
      tensor = numbers(&value.f, 1, DType::kFloat32, false);
      break;
    case Attribute::Type::kFloats:
      tensor = numbers(value.floats.data(), value.floats.size(),
                       DType::kFloat32, true);
      break;
    default:
      fail<NotImplementedError>(where(node), ": hotaru has no tensors of '",
                                value.name, "'");
  }
  set(node, 0,
      constant(std::move(tensor), node.outputs.empty() ? "" : node.outputs[0],
               Role::kBuffer),
      scope);
  return true;
}

// A model's own function stands where it is called.
bool GraphWriter::write_function(const Node& node, Scope& scope) {
  auto found = functions_.find({node.domain, node.op});
  if (found == functions_.end()) return false;
  const io::onnx::Function& function = *found->second;
  HOTARU_CHECK(++depth_ <= kMaxDepth, where(node),
               ": functions call each other more than ", kMaxDepth,
               " levels deep");
  HOTARU_CHECK(node.inputs.size() <= function.inputs.size() &&
                   node.outputs.size() <= function.outputs.size(),
               where(node), ": the function has ", function.inputs.size(),
               " inputs and ", function.outputs.size(), " outputs");
  Attributes attributes = node.attributes;
  for (const Attribute& each : function.defaults)
    if (!node.find(each.name)) attributes.push_back(each);
  Scope inner{.attributes = &attributes, .opsets = &function.opsets};
  for (size_t i = 0; i < function.inputs.size(); ++i)
    inner.values[function.inputs[i]] = input(node, i, scope);
  write(function.nodes, inner);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const Operand* value = inner.find(function.outputs[i]);
    HOTARU_CHECK(value, where(node), ": the function does not give '",
                 function.outputs[i], "'");
    set(node, i, *value, scope);
  }
  --depth_;
  return true;
}

}  // namespace hotaru::exchange::onnx
