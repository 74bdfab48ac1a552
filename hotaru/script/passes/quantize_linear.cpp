#include "hotaru/script/passes/quantize_linear.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/script/passes/freeze.h"

namespace hotaru::script {
namespace {

/// The constant is kept, so that no other one gets its address.
struct Done {
  Tensor constant;
  QuantizedWeight quantized;
};

/// Weights of a program, each quantised once however often it is used.
class Quantizer {
 public:
  explicit Quantizer(ProductCounts* counts)
      : counts_(counts ? counts : &own_) {}

  void run(Graph& graph) {
    for_each_node(graph.top(), [&](Node& node) { visit(graph, node); });
  }

 private:
  void visit(Graph& graph, Node& node) {
    const std::optional<ConstantProduct> product = constant_product(node);
    if (product && is_quantizable(product->constant)) {
      replace(graph, *product);
      ++counts_->rewritten;
    } else {
      counts_->keep(node);
    }
  }

  const QuantizedWeight& quantized(const ConstantProduct& product) {
    const auto key = std::pair(product.constant.impl(), product.transposed);
    auto [found, added] = done_.try_emplace(key);
    if (added)
      found->second = {product.constant, quantize_weight(product.weight())};
    return found->second.quantized;
  }

  void replace(Graph& graph, const ConstantProduct& product) {
    static const Operator* const to =
        Registry::instance().find("hotaru::linear_dynamic", "");
    Node* node = product.node;
    const QuantizedWeight& weight = quantized(product);
    const auto constant = [&](Value value, TypePtr type) {
      return constant_before(graph, node, std::move(value), type);
    };
    Node* made = graph.make_node(NodeKind::kOp, node->range);
    made->function = node->function;
    made->call_site = node->call_site;
    made->op = to;
    graph.add_input(made, product.x);
    graph.add_input(made, constant(weight.integers, TypeTable::tensor()));
    graph.add_input(made, constant(weight.scale, TypeTable::tensor()));
    graph.add_input(made, constant(Value(), TypeTable::none()));
    graph.add_input(made, product.bias ? product.bias
                                       : constant(Value(), TypeTable::none()));
    graph.add_input(made, constant(true, TypeTable::boolean()));
    graph.insert_before(made, node);
    Var* result = node->out();
    graph.replace_uses(result,
                       graph.add_output(made, result->type, result->name));
    graph.erase(node);
  }

  ProductCounts own_;
  ProductCounts* counts_;
  std::map<std::pair<const void*, bool>, Done> done_;
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

void quantize_linear(Graph& graph, ProductCounts* counts) {
  Quantizer(counts).run(graph);
}

Module quantize_linear(const Module& module,
                       const std::vector<std::string>& preserved,
                       ProductCounts* counts) {
  Quantizer quantizer(counts);
  return freeze(module, preserved, [&](Graph& graph) { quantizer.run(graph); });
}

}  // namespace hotaru::script
