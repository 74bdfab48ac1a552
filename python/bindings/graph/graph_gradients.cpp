#include "bindings/graph/graph_gradients.h"

#include <unordered_set>

#include "bindings/graph/graph_arguments.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/saved_tensor.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/sparse/opaque.h"
#include "hotaru/ops/create/copy.h"

namespace hotaru::python {
namespace {

using autograd::Node;
using autograd::Tensors;

Tensor gradient_of(const Tensor& leaf) {
  const autograd::Meta* m = autograd::meta(leaf);
  return m ? m->grad : Tensor();
}

void give(const Tensor& leaf, const Tensor& grad) {
  if (grad.defined() || autograd::meta(leaf))
    autograd::ensure_meta(leaf).grad = grad;
}

/// The history of what came from a captured backward pass.
class SpentNode final : public Node {
 public:
  SpentNode() : Node("GraphedBackward") {}
  Tensors apply(Tensors grads) override {
    if (!autograd::any_defined(grads)) return {};
    fail(
        "Trying to backward through the graph a second time (or directly "
        "access saved tensors after they have already been freed). Saved "
        "intermediate values of the graph are freed when you call .backward() "
        "or autograd.grad(): the compiled call did.");
  }
};

}  // namespace

bool LeafGradient::fits() const {
  const Tensor now = gradient_of(leaf);
  if (now.defined() != given) return false;
  return !before.defined() || now.is_same(before) ||
         (same(now.sizes(), before.sizes()) && now.dtype() == before.dtype() &&
          now.device() == before.device() && !is_opaque(now));
}

bool LeafGradient::ready() const {
  const autograd::Meta* m = autograd::meta(leaf);
  if (!m || !m->grad.defined()) return !given;
  return given && (!before.defined() || m->grad.is_same(before));
}

void LeafGradient::bring() const {
  if (!before.defined() || ready()) return;
  const autograd::NoGrad no_grad;
  copy_(before, gradient_of(leaf));
  give(leaf, before);
}

void LeafGradient::bind() const {
  if (!kept) give(leaf, after);
}

bool history_released(const std::vector<Tensor>& tensors) {
  std::vector<Ref<Node>> stack;
  for (const Tensor& t : tensors)
    if (Ref<Node> node = autograd::grad_fn(t)) stack.push_back(std::move(node));
  std::unordered_set<const Node*> seen;
  while (!stack.empty()) {
    const Ref<Node> node = std::move(stack.back());
    stack.pop_back();
    if (!seen.insert(node.get()).second) continue;
    const auto* saving = dynamic_cast<const autograd::SavingNode*>(node.get());
    if (saving && saving->released) return true;
    for (const autograd::Edge& edge : node->edges())
      if (edge.node) stack.push_back(edge.node);
  }
  return false;
}

void record_spent(std::span<const Tensor> results,
                  const std::vector<bool>& requires_grad) {
  const auto node = make_ref<SpentNode>();
  for (size_t i = 0; i < results.size(); ++i)
    if (requires_grad[i]) autograd::set_history(results[i], node);
}

}  // namespace hotaru::python
