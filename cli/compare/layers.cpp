#include "compare/layers.h"

#include <map>
#include <mutex>
#include <optional>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/core/shape.h"
#include "hotaru/graph/graph.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/script/passes/freeze.h"

namespace hotaru::cli {
namespace {

using script::Node;
using script::NodeKind;
using script::TypeTable;
using script::Var;

/// A product that the rewritten program hands over, and what it does instead.
struct Probe {
  Layer layer;
  const Operator* op;
  /// In integers, with the positions of x and bias among the arguments.
  std::optional<script::IntegerLinear> low;
  size_t x = 0;
  std::optional<size_t> bias;
};

/// State that "compare::product" looks up while layer_errors runs; its callers
/// may be tasks of other threads.
struct Probes {
  std::mutex mutex;
  LowPrecision low;
  std::vector<Probe> items;
};
Probes* running = nullptr;

/// Calls it as a graph does that was captured with the permission, or without.
Tensor in_graph(const Operator& op, const std::vector<Value>& arguments,
                Precision precision) {
  const PrecisionScope scope(precision);
  const auto made = make_ref<graph::Graph>();
  const Stream stream =
      DeviceTable::instance().backend(DeviceType::kCPU).make_stream(0, 0);
  std::vector<Value> given = arguments;
  Value result;
  made->capture_begin(stream);
  try {
    const StreamGuard guard(stream);
    op.call(given.data(), &result);
  } catch (...) {
    made->abandon();
    throw;
  }
  made->capture_end();
  made->replay();
  return clone(result.as_tensor());
}

Tensor in_integers(const Probe& probe, const std::vector<Value>& arguments) {
  std::vector<Value> given = probe.low->arguments;
  given[0] = arguments[probe.x];
  if (probe.bias) given[probe.low->bias] = arguments[*probe.bias];
  Value result;
  probe.low->op->call(given.data(), &result);
  return result.as_tensor();
}

/// The product in float32; keeps how far the low precision is from it.
Tensor product(int64_t index, const Value& arguments) {
  HOTARU_CHECK(running && index >= 0 && size_t(index) < running->items.size() &&
                   arguments.is_tuple(),
               "compare::product: is for the command hotaru compare");
  Probe& probe = running->items[size_t(index)];
  const std::vector<Value>& items = arguments.as_tuple().items;
  std::vector<Value> given = items;
  Value wanted;
  probe.op->call(given.data(), &wanted);
  const Tensor& result = wanted.tensor_ref();
  std::optional<Deviation> error;
  if (running->low.precision == Precision::kBFloat16)
    error = deviation(in_graph(*probe.op, items, Precision::kBFloat16),
                      in_graph(*probe.op, items, Precision::kFloat32));
  else if (probe.low)
    error = deviation(in_integers(probe, items), result);
  const std::lock_guard lock(running->mutex);
  Layer& layer = probe.layer;
  const bool first = layer.calls++ == 0;
  if (first) layer.result = concat(shape_text(result.sizes()));
  // A NaN is worse than any number.
  if (error && (first || !(error->relative() <= layer.error.relative())))
    layer.error = *error;
  layer.kept = !error;
  return wanted.as_tensor();
}

HOTARU_OP("compare::product(int index, Any arguments) -> Tensor", product);

/// Names of modules by where their parameters and buffers lie.
std::map<const void*, std::string> owners(const script::Module& module) {
  std::map<const void*, std::string> out;
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    const size_t dot = name.rfind('.');
    if (tensor.defined() && tensor.numel() > 0)
      out.emplace(host_bytes(tensor, "compare"),
                  name.ends_with(".weight") ? name.substr(0, dot) : name);
  };
  for (const auto& [name, tensor] : module.named_parameters())
    add(name, tensor);
  for (const auto& [name, tensor] : module.named_buffers()) add(name, tensor);
  return out;
}

/// Puts probes in the place of a graph's products.
class Rewriter {
 public:
  Rewriter(const script::Module& module, Probes* probes)
      : owners_(owners(module)), probes_(probes) {}

  void operator()(script::Graph& graph) {
    std::vector<Node*> products;
    script::for_each_node(graph.top(), [&](Node& node) {
      if (script::is_product(node) && node.outputs.size() == 1 &&
          node.out()->type == TypeTable::tensor())
        products.push_back(&node);
    });
    for (Node* node : products) replace(graph, node);
    script::for_each_node(graph.top(), [&](Node& node) { others_.keep(node); });
  }

  /// Products that were not replaced.
  size_t others() const { return others_.kept.size(); }

 private:
  std::string name_of(const Node& node) {
    for (const Var* input : node.inputs) {
      const Node* from = input->producer;
      // A transpose of a weight, or the weight.
      if (from && from->kind == NodeKind::kOp && !from->inputs.empty())
        from = from->in(0)->producer;
      if (!from || from->kind != NodeKind::kConstant ||
          !from->value.is_tensor() || !from->value.tensor_ref().defined())
        continue;
      const auto found =
          owners_.find(host_bytes(from->value.tensor_ref(), "compare"));
      if (found != owners_.end() && from->value.tensor_ref().dim() > 1)
        return found->second;
    }
    const std::string op(node.op->name());
    return concat(op, " ", ++nameless_[op]);
  }

  Probe probe_of(Node& node) {
    Probe out;
    out.op = node.op;
    out.layer.name = name_of(node);
    out.layer.op = std::string(node.op->name());
    if (!probes_->low.weights) return out;
    const auto found = script::constant_product(node);
    if (!found) return out;
    out.low = script::integer_linear(*found, *probes_->low.weights);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.in(i) == found->x) out.x = i;
      if (node.in(i) == found->bias) out.bias = i;
    }
    return out;
  }

  void replace(script::Graph& graph, Node* node) {
    static const Operator* const to =
        Registry::instance().find("compare::product", "");
    const auto place = [&](Node* made) {
      made->function = node->function;
      made->call_site = node->call_site;
      graph.insert_before(made, node);
      return made;
    };
    const int64_t index = int64_t(probes_->items.size());
    probes_->items.push_back(probe_of(*node));
    Node* tuple = graph.make_node(NodeKind::kTuple, node->range);
    for (Var* input : node->inputs) graph.add_input(tuple, input);
    place(tuple);
    Node* made = graph.make_node(NodeKind::kOp, node->range);
    made->op = to;
    graph.add_input(made, script::constant_before(graph, tuple, index,
                                                  TypeTable::integer()));
    graph.add_input(made, graph.add_output(tuple, TypeTable::any()));
    place(made);
    graph.replace_uses(node->out(), graph.add_output(made, node->out()->type));
    graph.erase(node);
  }

  std::map<const void*, std::string> owners_;
  std::map<std::string, int> nameless_;
  script::ProductCounts others_;
  Probes* probes_;
};

}  // namespace

std::vector<Layer> layer_errors(const script::Module& module,
                                const ModelOptions& options,
                                const LowPrecision& low, size_t* called) {
  Probes probes;
  probes.low = low;
  Rewriter rewriter(module, &probes);
  const script::Module probed =
      script::freeze(module, preserved(options.method),
                     [&](script::Graph& graph) { rewriter(graph); });
  *called = rewriter.others();
  const PrecisionScope scope(Precision::kFloat32);
  running = &probes;
  try {
    Model(probed, options).call();
  } catch (...) {
    running = nullptr;
    throw;
  }
  running = nullptr;
  std::vector<Layer> out;
  for (Probe& probe : probes.items)
    if (probe.layer.calls > 0) out.push_back(std::move(probe.layer));
  return out;
}

}  // namespace hotaru::cli
