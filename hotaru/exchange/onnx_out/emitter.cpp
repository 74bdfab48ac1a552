#include "hotaru/exchange/onnx_out/emitter.h"

#include <algorithm>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

using Type = Attribute::Type;

namespace {

// Constants without a name of more bytes than this become initializers, whose
// bytes the writer does not copy.
constexpr size_t kMaxInline = 4096;

Attribute named(std::string name, Type type) {
  Attribute out;
  out.name = std::move(name);
  out.type = type;
  return out;
}

void keep_used(std::vector<io::onnx::Node>& nodes, std::set<std::string>& used);

void use_graph(io::onnx::Graph& graph, std::set<std::string>& used) {
  for (const auto& each : graph.outputs) used.insert(each.name);
  keep_used(graph.nodes, used);
}

// From the last node to the first, so that what needs a value comes before it.
void keep_used(std::vector<io::onnx::Node>& nodes,
               std::set<std::string>& used) {
  std::vector<io::onnx::Node> kept;
  for (size_t i = nodes.size(); i-- > 0;) {
    io::onnx::Node& node = nodes[i];
    auto needed = [&](const std::string& name) { return used.count(name) > 0; };
    if (std::none_of(node.outputs.begin(), node.outputs.end(), needed))
      continue;
    used.insert(node.inputs.begin(), node.inputs.end());
    for (Attribute& attribute : node.attributes)
      for (auto& graph : attribute.graphs) use_graph(*graph, used);
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  nodes = std::move(kept);
}

}  // namespace

Attribute attr(std::string name, int64_t value) {
  Attribute out = named(std::move(name), Type::kInt);
  out.i = value;
  return out;
}
Attribute attr(std::string name, int value) {
  return attr(std::move(name), int64_t{value});
}
Attribute attr(std::string name, double value) {
  Attribute out = named(std::move(name), Type::kFloat);
  out.f = float(value);
  return out;
}
Attribute attr(std::string name, const char* value) {
  return attr(std::move(name), std::string(value));
}
Attribute attr(std::string name, std::string value) {
  Attribute out = named(std::move(name), Type::kString);
  out.s = std::move(value);
  return out;
}
Attribute attr(std::string name, Ints values) {
  Attribute out = named(std::move(name), Type::kInts);
  out.ints = std::move(values);
  return out;
}
Attribute attr(std::string name, std::vector<float> values) {
  Attribute out = named(std::move(name), Type::kFloats);
  out.floats = std::move(values);
  return out;
}
Attribute attr(std::string name, std::vector<std::string> values) {
  Attribute out = named(std::move(name), Type::kStrings);
  out.strings = std::move(values);
  return out;
}
Attribute attr(std::string name, std::shared_ptr<io::onnx::Graph> graph) {
  Attribute out = named(std::move(name), Type::kGraph);
  out.graphs.push_back(std::move(graph));
  return out;
}

std::string Emitter::fresh(const std::string& name) {
  std::string candidate = name;
  while (!names_.insert(candidate).second)
    candidate = concat(name, "_", ++counts_[name]);
  return candidate;
}

void Emitter::reserve(const std::string& name) {
  HOTARU_CHECK_AS(ValueError, names_.insert(name).second, "the name '", name,
                  "' is given to two values");
}

std::string Emitter::add(const char* op, Names inputs,
                         std::vector<Attribute> attributes) {
  return add_many(op, std::move(inputs), 1, std::move(attributes))[0];
}

Names Emitter::add_many(const char* op, Names inputs, size_t outputs,
                        std::vector<Attribute> attributes) {
  const std::string base = hint_.empty() ? std::string("v") : hint_;
  Names names;
  for (size_t i = 0; i < outputs; ++i) names.push_back(fresh(base));
  add_node(op, std::move(inputs), names, std::move(attributes));
  return names;
}

Names Emitter::add_many(const OpName& op, Names inputs, size_t outputs,
                        std::vector<Attribute> attributes) {
  Names names = add_many(op.name.c_str(), std::move(inputs), outputs,
                         std::move(attributes));
  if (!op.domain.empty()) domains_.insert(op.domain);
  graph().nodes.back().domain = op.domain;
  return names;
}

Attribute Emitter::tensor_attr(std::string name, const Tensor& tensor) {
  Attribute out = named(std::move(name), Type::kTensor);
  bytes_->push_back(io::onnx::tensor_message("", tensor));
  out.tensors.push_back({.name = {}, .message = bytes_->back()});
  return out;
}

void Emitter::add_node(const char* op, Names inputs, Names outputs,
                       std::vector<Attribute> attributes) {
  io::onnx::Node node;
  node.op = op;
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.name = concat("node_", op, "_", outputs[0]);
  node.outputs = std::move(outputs);
  graph().nodes.push_back(std::move(node));
}

std::string Emitter::constant(const Tensor& tensor) {
  const size_t bytes = size_t(tensor.numel()) * itemsize(tensor.dtype());
  if (bytes > kMaxInline) {
    std::string& known = by_tensor_[tensor.impl()];
    if (known.empty()) {
      known = fresh("constant");
      initializers_.push_back({known, tensor});
    }
    return known;
  }
  std::string message = io::onnx::tensor_message("", tensor);
  std::string& name = by_message_[message];
  if (!name.empty()) return name;
  name = fresh("constant");
  io::onnx::Node node;
  node.op = "Constant";
  node.name = "node_" + name;
  node.outputs = {name};
  node.attributes.push_back(tensor_attr("value", tensor));
  constants_.push_back(std::move(node));
  return name;
}

std::string Emitter::scalar(const Scalar& value, DType dtype) {
  return constant(full(Dims{}, value, TensorOptions(dtype, Device{})));
}

std::string Emitter::ints(const Ints& values) {
  Tensor tensor = empty(Dims{int64_t(values.size())},
                        TensorOptions(DType::kInt64, Device{}));
  std::copy(values.begin(), values.end(), host_data<int64_t>(tensor, "onnx"));
  return constant(tensor);
}

std::string Emitter::initializer(const std::string& name,
                                 const Tensor& tensor) {
  initializers_.push_back({fresh(name), tensor});
  return initializers_.back().name;
}

std::shared_ptr<io::onnx::Graph> Emitter::begin(const std::string& name) {
  auto graph = std::make_shared<io::onnx::Graph>();
  graph->name = fresh(name);
  graphs_.push_back(graph.get());
  return graph;
}

io::onnx::Graph Emitter::finish(std::vector<io::onnx::ValueInfo> inputs,
                                std::vector<io::onnx::ValueInfo> outputs) {
  io::onnx::Graph out;
  out.name = "main_graph";
  out.nodes = std::move(constants_);
  std::move(top_.nodes.begin(), top_.nodes.end(),
            std::back_inserter(out.nodes));
  out.inputs = std::move(inputs);
  out.outputs = std::move(outputs);
  used_.clear();
  use_graph(out, used_);
  return out;
}

std::vector<io::onnx::Initializer> Emitter::initializers() const {
  std::vector<io::onnx::Initializer> out;
  for (const auto& each : initializers_)
    if (used_.count(each.name)) out.push_back(each);
  return out;
}

}  // namespace hotaru::exchange::onnx_out
