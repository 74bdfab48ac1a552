#include "hotaru/script/passes/constant_products.h"

#include <algorithm>
#include <iterator>

#include "hotaru/ops/shape/view.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/function.h"

namespace hotaru::script {
namespace {

constexpr std::string_view kProducts[] = {
    "linear",
    "addmm",
    "matmul",
    "mm",
    "bmm",
    "baddbmm",
    "addbmm",
    "mv",
    "addmv",
    "dot",
    "einsum",
    "tensordot",
    "bilinear",
    "scaled_dot_product_attention",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "_convolution",
    "lstm",
    "gru",
    "rnn_tanh",
    "rnn_relu",
};

const Tensor* constant_matrix(const Node& node, size_t i) {
  const Value* value = node.constant(i);
  if (!value || !value->is_tensor()) return nullptr;
  const Tensor& tensor = value->tensor_ref();
  return tensor.defined() && tensor.dim() == 2 ? &tensor : nullptr;
}

bool is_number(const Node& node, size_t i, int64_t number) {
  const Value* value = node.constant(i);
  if (!value) return false;
  if (value->is_int()) return value->as_int() == number;
  return value->is_double() && value->as_double() == double(number);
}

bool swaps(const Value* first, const Value* second) {
  if (!first || !second || !first->is_int() || !second->is_int()) return false;
  const int64_t a = (first->as_int() + 2) % 2, b = (second->as_int() + 2) % 2;
  return a != b;
}

/// True if the node gives the transpose of its first input, a matrix.
bool transposes(const Node& node) {
  if (node.kind != NodeKind::kOp) return false;
  const std::string_view name = node.op->name();
  if (name == "t" || name == "numpy_T") return true;
  if (name == "transpose" && node.inputs.size() == 3)
    return swaps(node.constant(1), node.constant(2));
  if (name != "permute" || node.inputs.size() != 2) return false;
  const Node* list = node.in(1)->producer;
  return list && list->kind == NodeKind::kList && list->inputs.size() == 2 &&
         swaps(list->constant(0), list->constant(1));
}

/// Fills in the weight; false if input i is no constant matrix.
bool find_weight(const Node& node, size_t i, bool transposed,
                 ConstantProduct* to) {
  to->at = i;
  to->transposed = transposed;
  const Tensor* found = constant_matrix(node, i);
  if (!found) {
    const Node* producer = node.in(i)->producer;
    if (!producer || !transposes(*producer)) return false;
    found = constant_matrix(*producer, 0);
    to->transposed = !transposed;
  }
  if (!found) return false;
  to->constant = *found;
  return true;
}

void keep_called(Function& function, std::vector<const Function*>* active,
                 std::vector<std::string>* kept) {
  if (std::find(active->begin(), active->end(), &function) != active->end())
    return;
  active->push_back(&function);
  for_each_node(function.graph().top(), [&](Node& node) {
    if (is_product(node)) kept->emplace_back(node.op->name());
    if (node.callee) keep_called(*node.callee, active, kept);
  });
  active->pop_back();
}

}  // namespace

void ProductCounts::keep(const Node& node) {
  if (is_product(node)) kept.emplace_back(node.op->name());
  // Methods of modules are rewritten themselves.
  const bool method =
      node.callee && node.callee->owner() && node.callee->owner()->is_module();
  std::vector<const Function*> active;
  if (node.callee && !method) keep_called(*node.callee, &active, &kept);
}

Tensor ConstantProduct::weight() const {
  return transposed ? transpose(constant, 0, 1) : constant;
}

bool ConstantProduct::turned() const {
  // linear alone takes it as [n, k].
  return transposed == (node->op->name() == "linear");
}

Tensor ConstantProduct::operand() const {
  return turned() ? transpose(constant, 0, 1) : constant;
}

std::optional<ConstantProduct> constant_product(Node& node) {
  if (node.kind != NodeKind::kOp) return std::nullopt;
  const std::string_view name = node.op->name();
  ConstantProduct out{&node, nullptr, 0, {}, false, nullptr};
  if (name == "linear" && node.inputs.size() == 3) {
    if (!find_weight(node, 1, false, &out)) return std::nullopt;
    out.x = node.in(0);
    const Value* bias = node.constant(2);
    if (!bias || !bias->is_none()) out.bias = node.in(2);
    return out;
  }
  if ((name == "mm" || name == "matmul") && node.inputs.size() == 2) {
    if (!find_weight(node, 1, true, &out)) return std::nullopt;
    out.x = node.in(0);
    return out;
  }
  if (name != "addmm" || node.inputs.size() != 5) return std::nullopt;
  const Value* bias = node.constant(0);
  const bool plain = bias && bias->is_tensor() &&
                     bias->tensor_ref().defined() &&
                     bias->tensor_ref().dim() == 1 && is_number(node, 3, 1) &&
                     is_number(node, 4, 1);
  if (!plain || !find_weight(node, 2, true, &out)) return std::nullopt;
  out.x = node.in(1);
  out.bias = node.in(0);
  return out;
}

bool is_product(const Node& node) {
  return node.kind == NodeKind::kOp &&
         std::find(std::begin(kProducts), std::end(kProducts),
                   node.op->name()) != std::end(kProducts);
}

void for_each_node(Block& block, const std::function<void(Node&)>& visit) {
  for (Node* node = block.first; node;) {
    Node* next = node->next;
    for (Block* inner : node->blocks) for_each_node(*inner, visit);
    visit(*node);
    node = next;
  }
}

Var* constant_before(Graph& graph, Node* where, Value value, TypePtr type) {
  Node* node = graph.make_node(NodeKind::kConstant, where->range);
  node->function = where->function;
  node->call_site = where->call_site;
  node->value = std::move(value);
  graph.insert_before(node, where);
  return graph.add_output(node, type);
}

}  // namespace hotaru::script
