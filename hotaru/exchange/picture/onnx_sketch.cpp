#include "hotaru/exchange/picture/onnx_sketch.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/shape.h"
#include "hotaru/exchange/picture/paths.h"

namespace hotaru::exchange {
namespace {

namespace onnx = io::onnx;

constexpr size_t kMaxOnnxNodes = 100'000;
constexpr int kMaxOnnxDepth = 50;

/// Modules by what PyTorch's exporters write of them: ": Net/0.a: Layer/relu:
/// aten.relu.default" in metadata, or "/0/0.a/Relu" as a node's name.
std::vector<std::string> path_of(const onnx::Node& node) {
  std::vector<std::string> parts;
  const bool scoped = !node.scope.empty();
  std::string_view rest = scoped ? node.scope : node.name;
  if (!scoped && !rest.starts_with('/')) return {};
  while (!rest.empty()) {
    const size_t slash = rest.find('/');
    std::string_view part = rest.substr(0, slash);
    if (scoped) part = part.substr(0, part.find(':'));
    parts.emplace_back(part);
    rest.remove_prefix(slash == rest.npos ? rest.size() : slash + 1);
  }
  parts.pop_back();  // the operator
  std::string full;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    // A part may have those before it in front, or not.
    const bool whole = full.empty() || scoped || part.starts_with(full + ".");
    full = whole ? part : concat(full, ".", part);
  }
  return split_path(full);
}

class OnnxSketcher {
 public:
  explicit OnnxSketcher(const onnx::OnnxFile& file) : file_(file) {
    for (const onnx::Function& function : file.model().functions)
      functions_[{function.domain, function.name}] = &function;
  }

  Sketch run() {
    const onnx::Model& model = file_.model();
    Sketch out{.title = model.graph.name};
    Scope scope;
    declare(model.graph, scope);
    for (const onnx::ValueInfo& value : model.graph.inputs)
      if (!scope.weights.count(value.name))
        out.inputs.push_back({value.name, type_text(value), value.name});
    out.calls = calls(model.graph.nodes, scope);
    for (const onnx::ValueInfo& value : model.graph.outputs)
      out.outputs.push_back(
          {value.name, type_text(value), scope.name(value.name)});
    if (!named_) guess_paths(out.calls);
    return out;
  }

 private:
  /// Names within a graph, which sees those around it.
  struct Scope {
    const Scope* parent = nullptr;
    /// Names that values have in the sketch, if not as here.
    std::map<std::string, std::string> names = {};
    std::map<std::string, std::optional<SketchWeight>> weights = {};
    std::map<std::string, std::string> types = {};
    /// Before the names of all that a function's body gives.
    std::string prefix = {};

    const std::string name(const std::string& value) const {
      for (const Scope* at = this; at; at = at->parent) {
        const auto found = at->names.find(value);
        if (found != at->names.end()) return found->second;
        if (!at->prefix.empty()) return at->prefix + value;
      }
      return value;
    }
    /// Null where it is none; empty for a constant that is not shown.
    const std::optional<SketchWeight>* weight(const std::string& value) const {
      for (const Scope* at = this; at; at = at->parent) {
        const auto found = at->weights.find(value);
        if (found != at->weights.end()) return &found->second;
        if (!at->prefix.empty()) return nullptr;
      }
      return nullptr;
    }
  };

  void declare(const onnx::Graph& graph, Scope& scope) const {
    for (const onnx::TensorProto& tensor : graph.initializers)
      scope.weights[tensor.name] = weight_of(tensor);
    for (const auto* values : {&graph.values, &graph.outputs})
      for (const onnx::ValueInfo& value : *values)
        if (value.kind != onnx::ValueInfo::Kind::kUnknown)
          scope.types[value.name] = type_text(value);
  }

  /// Numbers that say an axis or a shape are no weights.
  std::optional<SketchWeight> weight_of(const onnx::TensorProto& tensor) const {
    constexpr double kLargeConstant = 256;
    const onnx::TensorInfo info = file_.info(tensor);
    const auto dtype = onnx::dtype_of(info.data_type);
    SketchWeight out{.name = tensor.name, .elements = 1};
    for (const int64_t size : info.dims) out.elements *= double(size);
    out.nbytes = dtype ? out.elements * double(itemsize(*dtype)) : 0;
    const bool floats = dtype && is_floating_point(*dtype);
    if (out.elements <= 1 || (!floats && out.nbytes < kLargeConstant))
      return {};
    out.type = concat(
        dtype ? dtype_name(*dtype) : onnx::data_type_name(info.data_type),
        shape_text(Dims(info.dims)));
    return out;
  }

  std::vector<SketchCall> calls(const std::vector<onnx::Node>& nodes,
                                Scope& scope) {
    std::vector<SketchCall> out;
    for (const onnx::Node& node : nodes) {
      HOTARU_CHECK(++count_ <= kMaxOnnxNodes, file_.name(),
                   ": a picture of more than ", kMaxOnnxNodes, " nodes");
      if (is_constant(node, scope)) continue;
      out.push_back(call(node, scope));
    }
    return out;
  }

  /// Constants, and other names for them, are not drawn.
  static bool is_constant(const onnx::Node& node, Scope& scope) {
    if (!node.domain.empty() || node.outputs.size() != 1) return false;
    if (node.op == "Constant") {
      scope.weights[node.outputs[0]] = std::nullopt;
      return true;
    }
    if (node.op != "Identity" || node.inputs.size() != 1) return false;
    const auto* weight = scope.weight(node.inputs[0]);
    if (!weight) return false;
    const auto held = *weight;  // the map grows
    scope.weights[node.outputs[0]] = held;
    return true;
  }

  SketchCall call(const onnx::Node& node, Scope& scope) {
    SketchCall out{.path = path_of(node)};
    named_ = named_ || !out.path.empty();
    out.name =
        node.domain.empty() ? node.op : concat(node.domain, "::", node.op);
    for (const std::string& input : node.inputs) {
      if (input.empty()) continue;
      const auto* weight = scope.weight(input);
      if (weight && *weight) out.weights.push_back(**weight);
      if (!weight) out.inputs.push_back(scope.name(input));
    }
    for (const std::string& output : node.outputs) {
      if (output.empty()) continue;
      const auto type = scope.types.find(output);
      if (out.result.empty() && type != scope.types.end())
        out.result = type->second;
      out.outputs.push_back(scope.name(output));
    }
    for (const onnx::Attribute& attribute : node.attributes)
      for (const auto& graph : attribute.graphs)
        out.blocks.push_back(block(attribute.name, *graph, scope));
    const auto function = functions_.find({node.domain, node.op});
    if (function != functions_.end())
      out.blocks.push_back(body(node, *function->second, scope));
    return out;
  }

  SketchBlock block(const std::string& name, const onnx::Graph& graph,
                    Scope& around) {
    Scope scope{.parent = &around};
    declare(graph, scope);
    SketchBlock out{.name = name};
    for (const onnx::ValueInfo& value : graph.inputs) {
      scope.names[value.name] = around.name(value.name);
      out.inputs.push_back(around.name(value.name));
    }
    out.calls = calls(graph.nodes, scope);
    for (const onnx::ValueInfo& value : graph.outputs)
      out.outputs.push_back(scope.name(value.name));
    return out;
  }

  /// Block of one of the model's own functions, with the call's values.
  SketchBlock body(const onnx::Node& node, const onnx::Function& function,
                   const Scope& around) {
    HOTARU_CHECK(++depth_ <= kMaxOnnxDepth, file_.name(),
                 ": functions call each other more than ", kMaxOnnxDepth,
                 " deep");
    Scope scope{.prefix = concat(function.name, "#", count_, ".")};
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      if (i >= node.inputs.size()) break;
      const std::string& given = node.inputs[i];
      const auto* weight = around.weight(given);
      if (weight) scope.weights[function.inputs[i]] = *weight;
      scope.names[function.inputs[i]] = around.name(given);
    }
    SketchBlock out{.calls = calls(function.nodes, scope)};
    for (const std::string& value : function.outputs)
      out.outputs.push_back(scope.name(value));
    --depth_;
    return out;
  }

  const onnx::OnnxFile& file_;
  std::map<std::pair<std::string, std::string>, const onnx::Function*>
      functions_;
  size_t count_ = 0;
  int depth_ = 0;
  bool named_ = false;
};

}  // namespace

Sketch sketch_of(const io::onnx::OnnxFile& file) {
  return OnnxSketcher(file).run();
}

}  // namespace hotaru::exchange
