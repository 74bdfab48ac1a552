// One run over the graph that hangs below some outputs.
#pragma once

#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "hotaru/engine/engine.h"

namespace hotaru::autograd {

/// Where a pass begins, and with which gradients.
using Roots = std::vector<std::pair<Edge, Tensor>>;

/// A pass, in the thread that runs it. Passes nest: a gradient may run one.
class Pass {
 public:
  Pass(Roots roots, BackwardOptions options);

  /// Restricts the run to what leads to these edges. Their gradients are
  /// collected; or, to accumulate, added up where leaves are, and in
  /// Node::retained() of others.
  void capture(const std::vector<Edge>& edges, bool accumulate);
  /// Returns what was collected. Throws what a gradient or a callback throws.
  Tensors run();

  /// The pass that runs in this thread, innermost; or null.
  static Pass* current();
  int64_t id() const { return id_; }
  const BackwardOptions& options() const { return options_; }
  /// The nodes still to come, in their order.
  std::vector<Ref<Node>> order_ahead() const;
  /// Tells whether a node's gradient will be computed, or was. Throws PyTorch's
  /// text for leaves that grad() differentiates by.
  bool executes(Node* node) const;
  void add_callback(std::function<void()> callback);

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
  using Queue = std::priority_queue<Ref<Node>, std::vector<Ref<Node>>, Later>;

  void count_dependencies();
  void mark_needed();
  void deliver(const Edge& edge, Tensor grad, const Node& giver, size_t place);
  void make_ready(Node* node);
  void visit(const Ref<Node>& node);
  Tensors evaluate(Node& node, Tensors grads);
  void collect(Node& node, const Tensors& grads);
  bool leads_on(Node& node) const;
  bool wanted(Node* node) const;
  void begin();
  void run_callbacks();

  const int64_t id_;
  BackwardOptions options_;
  Roots roots_;
  std::vector<Edge> captures_;
  Tensors captured_;
  bool accumulate_ = true;
  std::unordered_set<Node*> targets_;
  std::unordered_map<Node*, State> states_;
  std::vector<Node*> order_;
  Queue ready_;
  /// Whose turn it is.
  Node* running_ = nullptr;
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace hotaru::autograd
