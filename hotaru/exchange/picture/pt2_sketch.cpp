#include "hotaru/exchange/picture/pt2_sketch.h"

#include <map>
#include <string_view>

#include "hotaru/core/printing/concat.h"
#include "hotaru/core/shape.h"
#include "hotaru/exchange/picture/paths.h"

namespace hotaru::exchange {
namespace {

using Kind = pt2::Argument::Kind;
using Weights = std::map<std::string, SketchWeight>;

std::string type_text(const pt2::TensorMeta& meta) {
  std::string out = meta.dtype ? concat(dtype_name(*meta.dtype), "[") : "[";
  for (size_t i = 0; i < meta.sizes.size(); ++i) {
    const pt2::Size& size = meta.sizes[i];
    if (i) out += ", ";
    const bool number = size.kind == pt2::Size::Kind::kNumber;
    const bool symbol = size.kind == pt2::Size::Kind::kSymbol;
    out += number ? std::to_string(size.number) : symbol ? size.text : "…";
  }
  return out + "]";
}

std::string type_of(const pt2::Graph& graph, const std::string& value) {
  const auto meta = graph.tensors.find(value);
  return meta == graph.tensors.end() ? "" : type_text(meta->second);
}

/// "aten.conv2d" for "torch.ops.aten.conv2d.default".
std::string shown(std::string_view target) {
  for (const std::string_view before : {"torch.ops.", "_operator."})
    if (target.starts_with(before)) target.remove_prefix(before.size());
  if (target.ends_with(".default")) target.remove_suffix(8);
  return std::string(target);
}

bool is_value(const pt2::Argument& argument) {
  return !argument.text.empty() &&
         (argument.kind == Kind::kTensor || argument.kind == Kind::kSymInt ||
          argument.kind == Kind::kSymFloat || argument.kind == Kind::kSymBool);
}

class Pt2Sketcher {
 public:
  explicit Pt2Sketcher(const pt2::File& file) : file_(file) {}

  Sketch run() {
    Sketch out{.title = file_.model};
    for (const pt2::InputSpec& spec : file_.inputs) {
      const std::string& value = spec.argument.text;
      if (spec.kind == pt2::InputSpec::Kind::kUser && is_value(spec.argument))
        out.inputs.push_back({value, type_of(file_.graph, value), value});
      else if (!spec.target.empty())
        add_weight(value, spec.target);
    }
    out.calls = calls(file_.graph, weights_, "");
    for (const pt2::OutputSpec& spec : file_.outputs) {
      if (!is_value(spec.argument)) continue;
      const std::string& value = spec.argument.text;
      const bool user = spec.kind == pt2::OutputSpec::Kind::kUser;
      out.outputs.push_back({user ? value : concat("to ", spec.target),
                             type_of(file_.graph, value), value});
    }
    if (!named_) guess_paths(out.calls);
    return out;
  }

 private:
  void add_weight(const std::string& value, const std::string& target) {
    SketchWeight weight{.name = target};
    for (const auto* all : {&file_.weights, &file_.constants}) {
      const auto found = all->find(target);
      if (found == all->end()) continue;
      const Tensor& tensor = found->second.tensor;
      weight.type =
          concat(dtype_name(tensor.dtype()), shape_text(tensor.sizes()));
      weight.elements = double(tensor.numel());
      weight.nbytes = weight.elements * double(itemsize(tensor.dtype()));
      break;
    }
    weights_[value] = std::move(weight);
  }

  /// `prefix`: before the names of a graph in the graph.
  std::vector<SketchCall> calls(const pt2::Graph& graph, const Weights& weights,
                                const std::string& prefix) {
    std::vector<SketchCall> out;
    for (const pt2::Node& node : graph.nodes) {
      SketchCall call{.path = split_path(node.module),
                      .name = shown(node.target)};
      named_ = named_ || !call.path.empty();
      for (const pt2::NamedArgument& input : node.inputs)
        add_input(input.value, weights, prefix, call);
      for (const pt2::Argument& output : node.outputs)
        add_output(output, graph, prefix, call);
      add_blocks(node, weights, prefix, call);
      out.push_back(std::move(call));
    }
    return out;
  }

  void add_input(const pt2::Argument& argument, const Weights& weights,
                 const std::string& prefix, SketchCall& call) {
    for (const pt2::Argument& item : argument.items)
      add_input(item, weights, prefix, call);
    if (!is_value(argument)) return;
    const auto weight = weights.find(argument.text);
    if (weight != weights.end())
      call.weights.push_back(weight->second);
    else
      call.inputs.push_back(prefix + argument.text);
  }

  static void add_output(const pt2::Argument& argument, const pt2::Graph& graph,
                         const std::string& prefix, SketchCall& call) {
    for (const pt2::Argument& item : argument.items)
      add_output(item, graph, prefix, call);
    if (!is_value(argument)) return;
    if (call.result.empty()) call.result = type_of(graph, argument.text);
    call.outputs.push_back(prefix + argument.text);
  }

  /// Graphs among a node's arguments. Their inputs are the node's operands,
  /// in order: the last list, or the arguments behind the graph.
  void add_blocks(const pt2::Node& node, const Weights& around,
                  const std::string& prefix, SketchCall& call) {
    std::vector<const pt2::Argument*> operands;
    for (const pt2::NamedArgument& input : node.inputs) {
      const pt2::Argument& value = input.value;
      if (value.kind == Kind::kGraph) operands.clear();
      if (is_value(value)) operands.push_back(&value);
      if (value.kind != Kind::kList) continue;
      for (const pt2::Argument& item : value.items)
        if (is_value(item)) operands.push_back(&item);
    }
    for (const pt2::NamedArgument& input : node.inputs) {
      if (input.value.kind != Kind::kGraph || !input.value.graph) continue;
      const pt2::Graph& graph = *input.value.graph;
      const std::string inner =
          concat(prefix, input.value.text, "#", ++count_, ".");
      Weights weights;
      SketchBlock block{.name = input.value.text};
      for (size_t i = 0; i < graph.inputs.size(); ++i) {
        const std::string& name = graph.inputs[i].text;
        const auto weight =
            i < operands.size() ? around.find(operands[i]->text) : around.end();
        if (weight != around.end()) weights[name] = weight->second;
        block.inputs.push_back(inner + name);
      }
      block.calls = calls(graph, weights, inner);
      for (const pt2::Argument& output : graph.outputs)
        if (is_value(output)) block.outputs.push_back(inner + output.text);
      call.blocks.push_back(std::move(block));
    }
  }

  const pt2::File& file_;
  Weights weights_;
  size_t count_ = 0;
  bool named_ = false;
};

}  // namespace

Sketch sketch_of(const pt2::File& file) {
  return Pt2Sketcher(file).run();
}

}  // namespace hotaru::exchange
