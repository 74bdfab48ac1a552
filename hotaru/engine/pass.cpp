#include "hotaru/engine/pass.h"

#include <atomic>
#include <limits>
#include <optional>

#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/sparse/sum.h"
#include "hotaru/runtime/profiler.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::autograd {
namespace {

/// Number of what comes as soon as it can, as a leaf's.
constexpr uint64_t kAtOnce = std::numeric_limits<uint64_t>::max();

std::atomic<int64_t> next_id{0};
thread_local Pass* current_pass = nullptr;

/// Makes a pass this thread's for a scope.
struct Current {
  explicit Current(Pass* pass) : outer(std::exchange(current_pass, pass)) {}
  ~Current() { current_pass = outer; }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  Pass* outer;
};

/// Tells whether a tensor of these sizes broadcasts to others.
bool expands_to(IntSpan sizes, IntSpan others) {
  if (sizes.size() > others.size()) return false;
  const size_t more = others.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && sizes[i] != others[more + i]) return false;
  return true;
}

/// Brings the gradient that `giver` has for its input `place` to the shape and
/// device of the output it is for, and the dtype that its node wants.
Tensor fit(const Edge& edge, Tensor grad, const Node& giver, size_t place) {
  const OutputInfo& info = edge.node->outputs()[edge.index];
  const DType dtype = info.grad_dtype.value_or(grad.dtype());
  if (!same(grad.sizes(), info.sizes)) {
    HOTARU_CHECK(expands_to(info.sizes, grad.sizes()), "Function ",
                 giver.name(), " returned an invalid gradient at index ", place,
                 " - got ", shape_text(grad.sizes()),
                 " but expected shape compatible with ",
                 shape_text(info.sizes));
    grad = sum_to(grad, info.sizes);
  }
  if (grad.device() != info.device) {
    // Numbers travel by value beside another device's tensors.
    HOTARU_CHECK(info.sizes.empty(), "Function ", giver.name(),
                 " returned an invalid gradient at index ", edge.index,
                 " - expected device ", info.device, " but got ",
                 grad.device());
    return to(grad, dtype, info.device);
  }
  return to(grad, dtype);
}

Tensor sum(const Tensor& a, const Tensor& b) {
  if (is_opaque(a) || is_opaque(b)) [[unlikely]]
    return sum_of_opaque(b, a);  // the indices that came last are first
  return add(a, b);
}

void keep(Meta& meta, const Tensor& grad) {
  if (!grad.defined()) return;
  if (meta.grad.defined())
    meta.grad = sum(meta.grad, grad);
  else if (is_opaque(grad))
    meta.grad = grad;
  else
    meta.grad = grad.is_contiguous() ? clone(grad) : contiguous(grad);
}

/// Where a node runs: on the stream of its forward operation. The node of a
/// leaf may be older than a capture that goes on here, and joins it.
Stream stream_of(const Node& node) {
  const Stream& own = node.stream();
  const Stream& here = current_stream(own.device());
  return node.edges().empty() && here.diverted() ? here : own;
}

void warn_of(const Node& node) {
  if (node.notes) return node.notes->warn(node.name());
  warn(concat("Error detected in ", node.name(),
              ". No forward pass information available. Enable detect anomaly "
              "during forward pass for more information."));
}

void check_nan(const Node& node, const Tensors& inputs) {
  const NoGrad no_grad;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    if (!t.defined() || !is_differentiable(t.dtype())) continue;
    HOTARU_CHECK(!item(any(isnan(t))).to<bool>(), "Function '", node.name(),
                 "' returned nan values in its ", i, "th output.");
  }
}

}  // namespace

Pass::Pass(Roots roots, BackwardOptions options)
    : id_(next_id.fetch_add(1, std::memory_order_relaxed)),
      options_(options),
      roots_(std::move(roots)) {}

Pass* Pass::current() {
  return current_pass;
}

void Pass::capture(const std::vector<Edge>& edges, bool accumulate) {
  captures_ = edges;
  captured_.resize(edges.size());
  accumulate_ = accumulate;
  for (const Edge& edge : edges)
    if (edge.node) targets_.insert(edge.node.get());
}

Tensors Pass::run() {
  const Current current(this);
  count_dependencies();
  if (!captures_.empty()) mark_needed();
  const GradMode mode(options_.create_graph);
  begin();
  while (!ready_.empty()) {
    const Ref<Node> node = ready_.top();
    ready_.pop();
    visit(node);
  }
  run_callbacks();
  return std::move(captured_);
}

void Pass::begin() {
  static const std::string name = "torch::autograd::GraphRoot";
  // PyTorch's profiles show it where there are several.
  std::optional<hotaru::detail::NodeScope> turn, own;
  if (roots_.size() > 1) {
    turn.emplace(name, kAtOnce, true);
    own.emplace(name, kAtOnce, false);
  }
  for (auto& [edge, grad] : roots_)
    deliver(edge, std::move(grad), *edge.node, edge.index);
  for (auto& [edge, grad] : roots_) make_ready(edge.node.get());
}

// A callback may add others.
void Pass::run_callbacks() {
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    const auto callback = callbacks_[i];
    callback();
  }
}

void Pass::add_callback(std::function<void()> callback) {
  callbacks_.push_back(std::move(callback));
}

void Pass::count_dependencies() {
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

// A node is needed if it is wanted or leads to one that is. Nodes are settled
// once all that they lead to are, in a loop: graphs are deep.
void Pass::mark_needed() {
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

void Pass::deliver(const Edge& edge, Tensor grad, const Node& giver,
                   size_t place) {
  State& state = states_[edge.node.get()];
  state.grads.resize(edge.node->outputs().size());
  if (!grad.defined()) return;
  grad = fit(edge, std::move(grad), giver, place);
  Tensor& slot = state.grads[edge.index];
  slot = slot.defined() ? sum(slot, grad) : std::move(grad);
}

void Pass::make_ready(Node* node) {
  State& state = states_[node];
  if (state.missing > 0 || state.queued) return;
  state.queued = true;
  state.grads.resize(node->outputs().size());
  ready_.push(Ref<Node>(node));
}

void Pass::visit(const Ref<Node>& node) {
  const StreamGuard stream(stream_of(*node));
  running_ = node.get();
  State& state = states_[node.get()];
  Tensors inputs;
  std::optional<hotaru::detail::NodeScope> turn;
  if (state.needed) {
    turn.emplace(node->name(), node->sequence(), true);
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
    if (i < inputs.size()) deliver(edges[i], std::move(inputs[i]), *node, i);
    --states_[edges[i].node.get()].missing;
    make_ready(edges[i].node.get());
  }
  state.grads.clear();
  running_ = nullptr;
}

Tensors Pass::evaluate(Node& node, Tensors grads) {
  const Running running(&node);
  for (const auto& hook : node.pre_hooks.now()) hook(grads);
  const bool keeps = !node.post_hooks.empty();
  const Tensors passed = keeps ? grads : Tensors();
  Tensors inputs;
  node.set_keeps_saved(options_.retain_graph);
  try {
    const hotaru::detail::NodeScope scope(node.name(), node.sequence(), false);
    inputs = node.apply(std::move(grads));
    inputs.resize(node.edges().size());
    if (anomaly_enabled() && anomaly_checks_nan()) check_nan(node, inputs);
  } catch (...) {
    if (anomaly_enabled()) warn_of(node);
    throw;
  }
  // A hook may have come meanwhile, from one that unpacked a tensor.
  for (const auto& hook : node.post_hooks.now()) hook(inputs, passed);
  if (!options_.retain_graph) node.release_saved();
  return inputs;
}

void Pass::collect(Node& node, const Tensors& grads) {
  for (size_t i = 0; i < captures_.size(); ++i)
    if (captures_[i].node.get() == &node && !accumulate_)
      captured_[i] = grads[captures_[i].index];
}

/// True if the node has to run: some input below it is wanted.
bool Pass::leads_on(Node& node) const {
  if (captures_.empty()) return true;
  if (accumulate_ && targets_.contains(&node)) return true;
  for (const Edge& edge : node.edges())
    if (edge.node && states_.at(edge.node.get()).needed) return true;
  return false;
}

std::vector<Ref<Node>> Pass::order_ahead() const {
  std::unordered_map<Node*, int64_t> missing;
  std::vector<Ref<Node>> out;
  Queue ready = ready_;
  // The node whose turn it is has not passed its gradients on yet.
  if (running_) ready.emplace(running_);
  while (!ready.empty()) {
    const Ref<Node> node = ready.top();
    ready.pop();
    if (wanted(node.get())) out.push_back(node);
    for (const Edge& edge : node->edges()) {
      if (!edge.node) continue;
      Node* next = edge.node.get();
      const State& state = states_.at(next);
      const int64_t left =
          --missing.try_emplace(next, state.missing).first->second;
      if (left == 0 && !state.queued) ready.push(edge.node);
    }
  }
  return out;
}

bool Pass::wanted(Node* node) const {
  const auto at = states_.find(node);
  return at != states_.end() && at->second.needed;
}

bool Pass::executes(Node* node) const {
  const auto at = states_.find(node);
  if (at == states_.end()) return false;
  HOTARU_CHECK(accumulate_ || captures_.empty() || !node->edges().empty() ||
                   !targets_.contains(node),
               "A leaf node was passed to _will_engine_execute_node but we are "
               "currently running autograd.grad(). This is currently not "
               "supported.");
  return at->second.needed && (captures_.empty() || leads_on(*node));
}

}  // namespace hotaru::autograd
