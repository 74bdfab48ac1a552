#include "hotaru/script/passes/round_weights.h"

#include <algorithm>
#include <map>

#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/script/passes/freeze.h"
#include "hotaru/script/passes/passes.h"

namespace hotaru::script {
namespace {

const Operator& to_dtype() {
  static const Operator* const found = Registry::instance().find("to", "dtype");
  return *found;
}

/// The constant is kept, so that no other one gets its address.
struct Done {
  Tensor constant, rounded;
};

/// Weights of a program, each rounded once however often it is used.
class Rounder {
 public:
  explicit Rounder(ProductCounts* counts) : counts_(counts ? counts : &own_) {}

  void run(Graph& graph) {
    for_each_node(graph.top(), [&](Node& node) {
      const std::optional<ConstantProduct> product = constant_product(node);
      if (product && product->constant.dtype() == DType::kFloat32) {
        replace(graph, *product);
        ++counts_->rewritten;
      } else {
        counts_->keep(node);
      }
    });
  }

 private:
  const Tensor& rounded(const ConstantProduct& product) {
    auto [found, added] =
        done_.try_emplace({product.constant.impl(), product.turned()});
    if (added)
      found->second = {product.constant,
                       hotaru::to(product.operand(), DType::kBFloat16)};
    return found->second.rounded;
  }

  void replace(Graph& graph, const ConstantProduct& product) {
    const Tensor& rounded = this->rounded(product);
    Node* node = product.node;
    const auto constant = [&](Value value, TypePtr type) {
      return constant_before(graph, node, std::move(value), type);
    };
    Node* widened = graph.make_node(NodeKind::kOp, node->range);
    widened->function = node->function;
    widened->call_site = node->call_site;
    widened->op = &to_dtype();
    graph.add_input(widened, constant(rounded, TypeTable::tensor()));
    graph.add_input(widened,
                    constant(int64_t(DType::kFloat32), TypeTable::integer()));
    for (int flag = 0; flag < 2; ++flag)  // non_blocking, copy
      graph.add_input(widened, constant(false, TypeTable::boolean()));
    graph.add_input(widened, constant(Value(), TypeTable::none()));
    graph.insert_before(widened, node);
    graph.set_input(node, product.at,
                    graph.add_output(widened, TypeTable::tensor()));
  }

  ProductCounts own_;
  ProductCounts* counts_;
  std::map<std::pair<const void*, bool>, Done> done_;
};

bool is_dtype(const Value* value, DType dtype) {
  return value && value->is_int() && value->as_int() == int64_t(dtype);
}

/// True if the node widens a constant, for readers that are all products.
bool widens(const Node& node) {
  // Any overload: the second argument is a dtype where it is an integer.
  if (node.kind != NodeKind::kOp || node.op->name() != "to") return false;
  const Value* from = node.constant(0);
  if (!from || !from->is_tensor() || !from->tensor_ref().defined() ||
      from->tensor_ref().dim() != 2 || !from->tensor_ref().device().is_cpu() ||
      !is_dtype(node.constant(1), DType::kFloat32))
    return false;
  const DType dtype = from->tensor_ref().dtype();
  const std::vector<Var::Use>& uses = node.out()->uses;
  return (dtype == DType::kBFloat16 || dtype == DType::kFloat16) &&
         std::all_of(uses.begin(), uses.end(),
                     [](const Var::Use& use) { return is_product(*use.node); });
}

}  // namespace

bool widen_constants(Graph& graph) {
  // At once, not as part of what a capture or a queue takes down: programs are
  // compiled when they are first called, wherever that is.
  const StreamGuard guard{Stream(Device{})};
  bool changed = false;
  std::map<const void*, Value> done;
  for_each_node(graph.top(), [&](Node& node) {
    if (!widens(node)) return;
    const Tensor& from = node.constant(0)->tensor_ref();
    auto [found, added] = done.try_emplace(from.impl());
    if (added) found->second = hotaru::to(from, DType::kFloat32);
    graph.replace_uses(node.out(), constant_before(graph, &node, found->second,
                                                   TypeTable::tensor()));
    graph.erase(&node);
    changed = true;
  });
  return changed;
}

void round_weights(Graph& graph, ProductCounts* counts) {
  Rounder(counts).run(graph);
}

Module round_weights(const Module& module,
                     const std::vector<std::string>& preserved,
                     ProductCounts* counts) {
  Rounder rounder(counts);
  return freeze(module, preserved, [&](Graph& graph) { rounder.run(graph); });
}

}  // namespace hotaru::script
