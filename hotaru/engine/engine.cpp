#include "hotaru/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::autograd {
namespace {

/// One run over the graph that hangs below some outputs.
class Pass {
 public:
  Pass(const Tensors& outputs, Tensors grads, BackwardOptions options)
      : options_(options) {
    for (size_t i = 0; i < outputs.size(); ++i)
      roots_.emplace_back(gradient_edge(outputs[i]), std::move(grads[i]));
  }

  /// Restricts the run to what leads to these edges and collects their
  /// gradients instead of passing them on to leaves.
  void capture(const std::vector<Edge>& edges, bool accumulate) {
    captures_ = edges;
    captured_.resize(edges.size());
    accumulate_ = accumulate;
    for (const Edge& edge : edges)
      if (edge.node) targets_.insert(edge.node.get());
  }

  Tensors run() {
    count_dependencies();
    if (!captures_.empty()) mark_needed();
    const GradMode mode(options_.create_graph);
    for (auto& [edge, grad] : roots_) deliver(edge, std::move(grad));
    for (auto& [edge, grad] : roots_) make_ready(edge.node.get());
    while (!ready_.empty()) {
      const Ref<Node> node = ready_.top();
      ready_.pop();
      visit(node);
    }
    return std::move(captured_);
  }

 private:
  struct State {
    Tensors grads;
    int64_t missing = 0;
    bool queued = false;
    bool needed = true;
  };
  struct Later {
    bool operator()(const Ref<Node>& a, const Ref<Node>& b) const {
      return a->sequence() < b->sequence();
    }
  };

  void count_dependencies() {
    std::vector<Node*> stack;
    const auto reach = [&](Node* node) {
      if (states_.try_emplace(node).second) {
        order_.push_back(node);
        stack.push_back(node);
      }
    };
    for (auto& [edge, grad] : roots_) reach(edge.node.get());
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Edge& edge : node->edges()) {
        if (!edge.node) continue;
        reach(edge.node.get());
        ++states_[edge.node.get()].missing;
      }
    }
  }

  /// A node is needed if it is wanted or leads to one that is. Nodes are
  /// settled once all that they lead to are, in a loop: graphs are deep.
  void mark_needed() {
    std::unordered_map<Node*, std::vector<Node*>> parents;
    for (auto& [node, state] : states_) state.needed = false;
    for (Node* node : order_)
      for (const Edge& edge : node->edges())
        if (edge.node) parents[edge.node.get()].push_back(node);
    std::vector<Node*> stack;
    for (Node* target : targets_)
      if (states_.contains(target)) stack.push_back(target);
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      State& state = states_[node];
      if (state.needed) continue;
      state.needed = true;
      for (Node* parent : parents[node]) stack.push_back(parent);
    }
  }

  /// Brings a gradient to the shape and dtype of the output it is for.
  static Tensor fit(const Edge& edge, Tensor grad) {
    const OutputInfo& info = edge.node->outputs()[edge.index];
    if (!same(grad.sizes(), info.sizes)) {
      HOTARU_CHECK(
          grad.dim() >= int64_t(info.sizes.size()) &&
              same(broadcast_shapes(grad.sizes(), info.sizes), grad.sizes()),
          "Function ", edge.node->name(),
          " returned an invalid gradient at index ", edge.index, " - got ",
          shape_text(grad.sizes()), " but expected shape compatible with ",
          shape_text(info.sizes));
      grad = sum_to(grad, info.sizes);
    }
    return to(grad, info.dtype);
  }

  void deliver(const Edge& edge, Tensor grad) {
    State& state = states_[edge.node.get()];
    state.grads.resize(edge.node->outputs().size());
    if (!grad.defined()) return;
    grad = fit(edge, std::move(grad));
    Tensor& slot = state.grads[edge.index];
    slot = slot.defined() ? add(slot, grad) : std::move(grad);
  }

  void make_ready(Node* node) {
    State& state = states_[node];
    if (state.missing > 0 || state.queued || !node) return;
    state.queued = true;
    state.grads.resize(node->outputs().size());
    ready_.push(Ref<Node>(node));
  }

  void visit(const Ref<Node>& node) {
    const StreamGuard stream(node->stream());
    State& state = states_[node.get()];
    Tensors inputs;
    if (state.needed) {
      Tensors grads = std::move(state.grads);
      for (const auto& [id, hook] : node->pre_hooks) hook(grads);
      for (const auto& [index, meta] : node->retained)
        keep(*meta, grads[index]);
      collect(*node, grads);
      const bool leaf = node->edges().empty();
      const bool any = std::any_of(grads.begin(), grads.end(),
                                   [](auto& g) { return g.defined(); });
      if (any && leads_on(*node, leaf)) {
        const Tensors passed = node->post_hooks.empty() ? Tensors() : grads;
        inputs = node->apply(std::move(grads));
        for (const auto& [id, hook] : node->post_hooks) hook(inputs, passed);
        if (!options_.retain_graph) node->release_saved();
      }
    }
    const auto& edges = node->edges();
    for (size_t i = 0; i < edges.size(); ++i) {
      if (!edges[i].node) continue;
      if (i < inputs.size()) deliver(edges[i], std::move(inputs[i]));
      --states_[edges[i].node.get()].missing;
      make_ready(edges[i].node.get());
    }
    state.grads.clear();
  }

  static void keep(Meta& meta, const Tensor& grad) {
    if (!grad.defined()) return;
    meta.grad = meta.grad.defined() ? add(meta.grad, grad) : grad;
  }

  void collect(Node& node, const Tensors& grads) {
    for (size_t i = 0; i < captures_.size(); ++i)
      if (captures_[i].node.get() == &node && !accumulate_)
        captured_[i] = grads[captures_[i].index];
  }

  /// Whether the node has to run: some input below it is wanted.
  bool leads_on(Node& node, bool leaf) {
    if (captures_.empty()) return true;
    if (leaf) return accumulate_ && targets_.contains(&node);
    for (const Edge& edge : node.edges())
      if (edge.node && states_[edge.node.get()].needed) return true;
    return false;
  }

  BackwardOptions options_;
  std::vector<std::pair<Edge, Tensor>> roots_;
  std::vector<Edge> captures_;
  Tensors captured_;
  bool accumulate_ = true;
  std::unordered_set<Node*> targets_;
  std::unordered_map<Node*, State> states_;
  std::vector<Node*> order_;
  std::priority_queue<Ref<Node>, std::vector<Ref<Node>>, Later> ready_;
};

std::string size_text(IntSpan sizes) {
  return concat("torch.Size(", shape_text(sizes), ")");
}

/// Checks the outputs and fills in gradients of 1.
Tensors root_gradients(const Tensors& outputs, const Tensors& grads) {
  Tensors out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& t = outputs[i];
    HOTARU_CHECK(requires_grad(t), "element ", i,
                 " of tensors does not require grad and does not have a "
                 "grad_fn");
    Tensor grad = i < grads.size() ? grads[i] : Tensor();
    if (grad.defined()) {
      HOTARU_CHECK(same(grad.sizes(), t.sizes()),
                   "Mismatch in shape: grad_output[", i, "] has a shape of ",
                   size_text(grad.sizes()), " and output[", i,
                   "] has a shape of ", size_text(t.sizes()), ".");
    } else {
      HOTARU_CHECK(t.numel() == 1,
                   "grad can be implicitly created only for scalar outputs");
      HOTARU_CHECK(!t.is_complex(),
                   "grad can be implicitly created only for real scalar "
                   "outputs but got ",
                   t.dtype());
      grad = ones_like(t);
    }
    out.push_back(std::move(grad));
  }
  return out;
}

std::vector<Edge> input_edges(const Tensors& inputs) {
  std::vector<Edge> edges;
  for (const Tensor& t : inputs) {
    HOTARU_CHECK(requires_grad(t),
                 "One of the differentiated Tensors does not require grad");
    edges.push_back(gradient_edge(t));
  }
  return edges;
}

}  // namespace

void backward(const Tensors& outputs, const Tensors& grads,
              const Tensors& inputs, BackwardOptions options) {
  Pass pass(outputs, root_gradients(outputs, grads), options);
  if (!inputs.empty()) {
    for (const Tensor& t : inputs)
      if (!is_leaf(t)) retain_grad(t);
    pass.capture(input_edges(inputs), true);
  }
  pass.run();
}

Tensors grad(const Tensors& outputs, const Tensors& inputs,
             const Tensors& grads, BackwardOptions options, bool allow_unused) {
  Pass pass(outputs, root_gradients(outputs, grads), options);
  pass.capture(input_edges(inputs), false);
  Tensors result = pass.run();
  for (size_t i = 0; i < result.size(); ++i)
    HOTARU_CHECK(result[i].defined() || allow_unused,
                 "The differentiated Tensor at index ", i,
                 " appears to not have been used in the graph. Set "
                 "allow_unused=True if this is the desired behavior.");
  return result;
}

int64_t register_hook(const Tensor& t, Meta::Hook hook) {
  HOTARU_CHECK(requires_grad(t),
               "cannot register a hook on a tensor that doesn't require "
               "gradient");
  if (const Ref<Node> node = grad_fn(t)) {
    return node->add_pre_hook([index = meta(t)->output_index,
                               hook = std::move(hook)](Tensors& grads) {
      if (!grads[index].defined()) return;
      if (Tensor other = hook(grads[index]); other.defined())
        grads[index] = std::move(other);
    });
  }
  static std::atomic<int64_t> next{0};
  const int64_t id = --next;  // apart from the ids of nodes' hooks
  ensure_meta(t).hooks.emplace_back(id, std::move(hook));
  return id;
}

void remove_hook(const Tensor& t, int64_t id) {
  if (Meta* m = meta(t))
    std::erase_if(m->hooks, [id](auto& hook) { return hook.first == id; });
  if (const Ref<Node> node = grad_fn(t)) node->remove_hook(id);
}

void retain_grad(const Tensor& t) {
  HOTARU_CHECK(requires_grad(t),
               "can't retain_grad on Tensor that has requires_grad=False");
  const Ref<Node> node = grad_fn(t);
  Meta& m = ensure_meta(t);
  if (!node || m.retains_grad) return;
  m.retains_grad = true;
  node->retained.emplace_back(m.output_index, &m);
}

}  // namespace hotaru::autograd
