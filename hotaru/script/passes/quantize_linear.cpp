#include "hotaru/script/passes/quantize_linear.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/script/passes/constant_rnn.h"
#include "hotaru/script/passes/freeze.h"
#include "hotaru/script/passes/group_weight.h"
#include "hotaru/script/passes/narrow_table.h"

namespace hotaru::script {
namespace {

void check(const IntegerWeights& form) {
  HOTARU_CHECK_AS(
      ValueError,
      form.bits == 8 || (form.bits == 4 && is_group_size(form.group)),
      "quantize_linear: weights should have 8 bits, or 4 in groups "
      "of 32, 64 or 128, got ",
      form.bits, " in groups of ", form.group);
}

/// Weights and tables of a program, each quantised once however often it is
/// used. Constants are kept, so that no other ones get their addresses.
class Quantizer {
 public:
  Quantizer(ProductCounts* counts, const IntegerWeights& form)
      : counts_(counts ? counts : &own_), form_(form) {
    check(form);
  }

  void run(Graph& graph) {
    for_each_node(graph.top(), [&](Node& node) { visit(graph, node); });
  }

 private:
  struct Weight {
    Tensor constant;
    std::optional<IntegerLinear> made;
  };
  struct Table {
    Tensor constant, made;  // undefined where it stays
  };

  void visit(Graph& graph, Node& node) {
    if (const std::optional<ConstantProduct> product = constant_product(node)) {
      if (const auto& made = weight(*product))
        return replace(graph, *product, *made);
    } else if (node.kind == NodeKind::kOp && node.op->name() == "embedding") {
      const Tensor* table = constant_table(node);
      if (table && this->table(*table).defined())
        return replace(graph, &node, this->table(*table));
      counts_->kept.emplace_back("embedding");
      return;
    } else if (const auto rnn = constant_rnn(node); rnn && quantizable(*rnn)) {
      return replace(graph, *rnn);
    }
    counts_->keep(node);
  }

  const std::optional<IntegerLinear>& weight(const ConstantProduct& product) {
    const auto key = std::pair(product.constant.impl(), product.transposed);
    auto [found, added] = weights_.try_emplace(key);
    if (added)
      found->second = {product.constant, integer_linear(product, form_)};
    return found->second.made;
  }

  bool quantizable(const ConstantRnn& rnn) const {
    return form_.bits == 8 &&
           std::all_of(rnn.weights.begin(), rnn.weights.end(), is_quantizable);
  }

  const Tensor& table(const Tensor& constant) {
    auto [found, added] = tables_.try_emplace(constant.impl());
    const NarrowTableForm form{form_.bits, form_.bits == 4 ? form_.group : 0};
    if (added) {
      found->second.constant = constant;
      if (is_narrowable(constant, form))
        found->second.made = narrow_table(constant, form);
    }
    return found->second.made;
  }

  Node* node_for(Graph& graph, Node* node, const Operator* op) {
    Node* made = graph.make_node(NodeKind::kOp, node->range);
    made->function = node->function;
    made->call_site = node->call_site;
    made->op = op;
    return made;
  }

  void put(Graph& graph, Node* made, Node* node) {
    graph.insert_before(made, node);
    Var* result = node->out();
    graph.replace_uses(result,
                       graph.add_output(made, result->type, result->name));
    graph.erase(node);
  }

  void replace(Graph& graph, const ConstantProduct& product,
               const IntegerLinear& by) {
    Node* node = product.node;
    Node* made = node_for(graph, node, by.op);
    graph.add_input(made, product.x);
    for (size_t i = 1; i < by.arguments.size(); ++i) {
      const Value& value = by.arguments[i];
      const TypePtr type = value.is_tensor() ? TypeTable::tensor()
                           : value.is_bool() ? TypeTable::boolean()
                                             : TypeTable::none();
      const bool given = i == by.bias && product.bias;
      graph.add_input(made, given ? product.bias
                                  : constant_before(graph, node, value, type));
    }
    put(graph, made, node);
    ++counts_->rewritten;
  }

  void replace(Graph& graph, Node* node, const Tensor& table) {
    static const Operator* const to =
        Registry::instance().find("hotaru::embedding_narrow", "");
    Node* made = node_for(graph, node, to);
    graph.add_input(made,
                    constant_before(graph, node, table, TypeTable::tensor()));
    graph.add_input(made, node->in(1));
    graph.add_input(
        made, constant_before(graph, node, form_.bits, TypeTable::integer()));
    put(graph, made, node);
    ++counts_->embeddings;
  }

  void replace(Graph& graph, const ConstantRnn& rnn) {
    Node* node = rnn.node;
    const bool lstm = node->op->name() == "lstm";
    Node* made = node_for(
        graph, node,
        Registry::instance().find(
            lstm ? "hotaru::lstm_dynamic" : "hotaru::gru_dynamic", ""));
    const auto list = [&](const std::vector<Var*>& items) {
      Node* of = graph.make_node(NodeKind::kList, node->range);
      of->function = node->function;
      of->call_site = node->call_site;
      for (Var* item : items) graph.add_input(of, item);
      graph.insert_before(of, node);
      return graph.add_output(of, rnn.list->out()->type);
    };
    std::vector<Var*> weights, scales;
    for (const Tensor& constant : rnn.weights) {
      const QuantizedWeight& weight = recurrent(constant);
      const auto add = [&](const Tensor& t) {
        return constant_before(graph, node, t, TypeTable::tensor());
      };
      weights.push_back(add(weight.integers));
      scales.push_back(add(weight.scale));
    }
    for (size_t i = 0; i < 2; ++i) graph.add_input(made, node->in(i));
    for (Var* var : {list(weights), list(scales), list(rnn.biases)})
      graph.add_input(made, var);
    for (const size_t i : {4, 7, 8}) graph.add_input(made, node->in(i));
    graph.insert_before(made, node);
    for (Var* result : node->outputs)
      graph.replace_uses(result,
                         graph.add_output(made, result->type, result->name));
    graph.erase(node);
    ++counts_->recurrent;
  }

  const QuantizedWeight& recurrent(const Tensor& constant) {
    auto [found, added] = recurrent_.try_emplace(constant.impl());
    if (added) found->second = {constant, quantize_weight(constant)};
    return found->second.second;
  }

  ProductCounts own_;
  ProductCounts* counts_;
  IntegerWeights form_;
  std::map<const void*, std::pair<Tensor, QuantizedWeight>> recurrent_;
  std::map<std::pair<const void*, bool>, Weight> weights_;
  std::map<const void*, Table> tables_;
};

}  // namespace

bool is_quantizable(const Tensor& weight) {
  if (weight.dtype() != DType::kFloat32 || !weight.device().is_cpu() ||
      weight.numel() == 0)
    return false;
  const Tensor whole = contiguous(weight);
  const float* from = host_data<float>(whole, "quantize_linear");
  return std::all_of(from, from + whole.numel(),
                     [](float w) { return std::isfinite(w); });
}

QuantizedWeight quantize_weight(const Tensor& weight) {
  HOTARU_CHECK_AS(ValueError, is_quantizable(weight),
                  "quantize_weight: a weight should be of finite float32 "
                  "numbers on the CPU, got ",
                  scalar_type_name(weight.dtype()), " of shape ",
                  shape_text(weight.sizes()));
  constexpr float kHalf = 127.5f;  // of the 255 steps from -128 to 127
  const Tensor whole = contiguous(weight);
  const float* from = host_data<float>(whole, "quantize_weight");
  const int64_t count = whole.numel();
  float most = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, std::abs(from[i]));
  const float scale =
      std::max(most / kHalf, std::numeric_limits<float>::epsilon());
  const float inverse = 1.0f / scale;
  QuantizedWeight out{allocate(whole.sizes(), DType::kInt8, Device{}),
                      allocate(Dims{1}, DType::kFloat32, Device{})};
  int8_t* to = host_data<int8_t>(out.integers, "quantize_weight");
  for (int64_t i = 0; i < count; ++i)
    to[i] =
        int8_t(std::clamp(std::nearbyint(from[i] * inverse), -128.f, 127.f));
  *host_data<float>(out.scale, "quantize_weight") = scale;
  return out;
}

std::optional<IntegerLinear> integer_linear(const ConstantProduct& product,
                                            const IntegerWeights& form) {
  static const Operator* const eight =
      Registry::instance().find("hotaru::linear_dynamic", "");
  static const Operator* const four =
      Registry::instance().find("hotaru::linear_int4", "");
  if (form.bits == 4) {
    if (!is_groupable(product.weight(), form.group)) return std::nullopt;
    const GroupedWeight made = group_weight(product.weight(), form.group);
    return IntegerLinear{four, {Value(), made.packed, made.scales, Value()}, 3};
  }
  if (!is_quantizable(product.constant)) return std::nullopt;
  const QuantizedWeight made = quantize_weight(product.weight());
  return IntegerLinear{
      eight, {Value(), made.integers, made.scale, Value(), Value(), true}, 4};
}

void quantize_linear(Graph& graph, ProductCounts* counts,
                     const IntegerWeights& form) {
  Quantizer(counts, form).run(graph);
}

Module quantize_linear(const Module& module,
                       const std::vector<std::string>& preserved,
                       ProductCounts* counts, const IntegerWeights& form) {
  Quantizer quantizer(counts, form);
  return freeze(module, preserved, [&](Graph& graph) { quantizer.run(graph); });
}

}  // namespace hotaru::script
