#include "hotaru/engine/engine.h"

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

/// Where a pass begins, and with which gradients.
using Roots = std::vector<std::pair<Edge, Tensor>>;

/// One run over the graph that hangs below some outputs.
class Pass {
 public:
  Pass(Roots roots, BackwardOptions options)
      : options_(options), roots_(std::move(roots)) {}

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

  /// Brings a gradient to the shape, dtype and device of the output it is for.
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
    if (grad.device() != info.device) {
      // Of a number that travelled by value beside another device's tensors.
      HOTARU_CHECK(info.sizes.empty(), "Function ", edge.node->name(),
                   " returned an invalid gradient at index ", edge.index,
                   " - expected device ", info.device, " but got ",
                   grad.device());
      return to(grad, info.dtype, info.device);
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
    if (state.missing > 0 || state.queued) return;
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
      if (options_.input_hooks || !targets_.contains(node.get()))
        node->run_tensor_hooks(grads);
      for (const auto& [index, meta] : node->retained())
        keep(*meta, grads[index]);
      collect(*node, grads);
      if (leads_on(*node)) inputs = evaluate(*node, std::move(grads));
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

  Tensors evaluate(Node& node, Tensors grads) {
    for (const auto& hook : node.pre_hooks.now()) hook(grads);
    const auto post_hooks = node.post_hooks.now();
    const Tensors passed = post_hooks.empty() ? Tensors() : grads;
    Tensors inputs = node.apply(std::move(grads));
    inputs.resize(node.edges().size());
    for (const auto& hook : post_hooks) hook(inputs, passed);
    if (!options_.retain_graph) node.release_saved();
    return inputs;
  }

  static void keep(Meta& meta, const Tensor& grad) {
    if (!grad.defined()) return;
    if (meta.grad.defined())
      meta.grad = add(meta.grad, grad);
    else
      meta.grad = grad.is_contiguous() ? clone(grad) : contiguous(grad);
  }

  void collect(Node& node, const Tensors& grads) {
    for (size_t i = 0; i < captures_.size(); ++i)
      if (captures_[i].node.get() == &node && !accumulate_)
        captured_[i] = grads[captures_[i].index];
  }

  /// Whether the node has to run: some input below it is wanted.
  bool leads_on(Node& node) {
    if (captures_.empty()) return true;
    if (node.edges().empty()) return accumulate_ && targets_.contains(&node);
    for (const Edge& edge : node.edges())
      if (edge.node && states_[edge.node.get()].needed) return true;
    return false;
  }

  BackwardOptions options_;
  Roots roots_;
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
Roots roots_of(const Tensors& outputs, const Tensors& grads) {
  Roots out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& t = outputs[i];
    Edge edge = gradient_edge(t);
    HOTARU_CHECK(edge.node, "element ", i,
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
    out.emplace_back(std::move(edge), std::move(grad));
  }
  return out;
}

/// Lets a hook put another gradient in the place of one.
struct TensorHook {
  GradientHook hook;
  std::string name;

  Tensor operator()(const Tensor& grad) const {
    Tensor other = hook(grad);
    if (other.defined()) check_replacement(name, grad, other);
    return other;
  }
};

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
  Pass pass(roots_of(outputs, grads), options);
  if (!inputs.empty()) {
    for (const Tensor& t : inputs)
      if (!is_leaf(t)) retain_grad(t);
    pass.capture(input_edges(inputs), true);
  }
  pass.run();
}

Tensors grad(const Tensors& outputs, const Tensors& inputs,
             const Tensors& grads, BackwardOptions options, bool allow_unused) {
  Pass pass(roots_of(outputs, grads), options);
  pass.capture(input_edges(inputs), false);
  Tensors result = pass.run();
  for (size_t i = 0; i < result.size(); ++i)
    HOTARU_CHECK(result[i].defined() || allow_unused,
                 "The differentiated Tensor at index ", i,
                 " appears to not have been used in the graph. Set "
                 "allow_unused=True if this is the desired behavior.");
  return result;
}

void check_replacement(const std::string& hook, const Tensor& was,
                       const Tensor& now) {
  if (!now.defined()) return;
  HOTARU_CHECK(was.defined(),
               "can't replace a None gradient with a non-None value");
  HOTARU_CHECK(was.dtype() == now.dtype(), "hook '", hook,
               "' has changed the type of value (was torch.",
               scalar_type_name(was.dtype()), "Tensor got torch.",
               scalar_type_name(now.dtype()), "Tensor)");
  HOTARU_CHECK(same(was.sizes(), now.sizes()), "hook '", hook,
               "' has changed the size of value");
}

RemoveHook register_hook(const Tensor& t, GradientHook hook, std::string name,
                         std::shared_ptr<void> owned) {
  HOTARU_CHECK(requires_grad(t),
               "cannot register a hook on a tensor that doesn't require "
               "gradient");
  TensorHook checked{std::move(hook), std::move(name)};
  const Ref<Node> node = grad_fn(t);
  if (!node)
    return ensure_meta(t).hooks.add(std::move(checked), std::move(owned));
  const auto replace = [index = meta(t)->output_index,
                        checked = std::move(checked)](Tensors& grads) {
    if (Tensor other = checked(grads[index]); other.defined())
      grads[index] = std::move(other);
  };
  return node->tensor_hooks.add(replace, std::move(owned));
}

void retain_grad(const Tensor& t) {
  HOTARU_CHECK(requires_grad(t),
               "can't retain_grad on Tensor that has requires_grad=False");
  if (grad_fn(t)) ensure_meta(t).set_retains_grad();
}

}  // namespace hotaru::autograd
