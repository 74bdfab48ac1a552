#include "hotaru/autograd/node.h"

#include <algorithm>
#include <atomic>

#include "hotaru/autograd/record.h"

namespace hotaru::autograd {
namespace {

std::atomic<uint64_t> next_sequence{0};
std::atomic<int64_t> next_hook{0};

template <class Hooks>
void drop(Hooks& hooks, int64_t id) {
  std::erase_if(hooks, [id](const auto& hook) { return hook.first == id; });
}

// "[torch.FloatTensor [3]]", as PyTorch describes a tensor in this message.
std::string describe(const Tensor& t) {
  return concat("[torch.", scalar_type_name(t.dtype()), "Tensor ",
                shape_text(t.sizes()), "]");
}

// The operator of a node as this message names it: "Exp" for "ExpBackward0".
std::string operator_name(const Node& node) {
  const std::string& name = node.name();
  const size_t last = name.find_last_not_of("0123456789");
  constexpr std::string_view kSuffix = "Backward";
  if (last + 1 >= kSuffix.size() && last + 1 < name.size() &&
      name.compare(last + 1 - kSuffix.size(), kSuffix.size(), kSuffix) == 0)
    return name.substr(0, last + 1 - kSuffix.size());
  return name;
}

}  // namespace

Node::Node(std::string name)
    : name_(std::move(name)),
      stream_(current_stream(DeviceType::kCPU)),
      sequence_(next_sequence.fetch_add(1, std::memory_order_relaxed)) {}

Node::~Node() {
  // A chain of a million nodes must not be freed by a million nested calls:
  // the last owner of a subgraph takes it apart in a loop.
  std::vector<Ref<Node>> pending;
  const auto take = [&pending](Node& node) {
    for (Edge& edge : node.edges_)
      if (edge.node && edge.node->use_count() == 1)
        pending.push_back(std::move(edge.node));
  };
  take(*this);
  while (!pending.empty()) {
    const Ref<Node> node = std::move(pending.back());
    pending.pop_back();
    if (node->use_count() == 1) take(*node);
  }
}

uint32_t Node::add_output(const Tensor& output) {
  outputs_.push_back({output.sizes(), output.dtype(), output.device()});
  return uint32_t(outputs_.size() - 1);
}

int64_t Node::add_pre_hook(PreHook hook) {
  pre_hooks.emplace_back(++next_hook, std::move(hook));
  return pre_hooks.back().first;
}

int64_t Node::add_post_hook(PostHook hook) {
  post_hooks.emplace_back(++next_hook, std::move(hook));
  return post_hooks.back().first;
}

void Node::remove_hook(int64_t id) {
  drop(pre_hooks, id);
  drop(post_hooks, id);
}

SavedTensor::SavedTensor(const Tensor& tensor, bool output, uint32_t version)
    : version_(version), output_(output) {
  if (!tensor.defined()) return;
  if (output) {
    tensor_ = make_alias(tensor);
    if (const Meta* m = meta(tensor)) output_index_ = m->output_index;
  } else {
    tensor_ = tensor;
  }
}

Tensor SavedTensor::unpack(Node* owner) const {
  if (!tensor_.defined()) return {};
  if (tensor_.version() != version_ && tensor_.impl()->tracks_version) {
    const Ref<Node> maker = output_ ? Ref<Node>(owner) : grad_fn(tensor_);
    const Meta* m = meta(tensor_);
    const uint32_t index = output_ ? output_index_ : m ? m->output_index : 0;
    fail(
        "one of the variables needed for gradient computation has been "
        "modified by an inplace operation: ",
        describe(tensor_),
        maker ? concat(", which is output ", index, " of ",
                       operator_name(*maker), ",")
              : std::string(),
        " is at version ", tensor_.version(), "; expected version ", version_,
        " instead. Hint: enable anomaly detection to find the operation that "
        "failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False).");
  }
  if (!output_) return tensor_;
  Tensor out = make_alias(tensor_);
  Meta& m = ensure_meta(out);
  m.grad_fn = Ref<Node>(owner);
  m.output_index = output_index_;
  return out;
}

namespace {

void forget(Node& node, const Meta& meta) {
  std::erase_if(node.retained,
                [&](const auto& kept) { return kept.second == &meta; });
}

}  // namespace

Meta::~Meta() {
  if (retains_grad && grad_fn) forget(*grad_fn, *this);
}

Meta& ensure_meta(const Tensor& t) {
  Ref<AutogradMeta>& slot = t.impl()->autograd;
  if (!slot) slot = make_ref<Meta>();
  return static_cast<Meta&>(*slot);
}

namespace {

void set_node(const Tensor& t, const Ref<Node>& node, uint32_t index) {
  Meta& m = ensure_meta(t);
  if (m.retains_grad) {
    // The gradient that is kept is that of the latest values.
    if (m.grad_fn) forget(*m.grad_fn, m);
    node->retained.emplace_back(index, &m);
  }
  m.output_index = index;
  m.grad_fn = node;
  m.view_version = t.version();
}

}  // namespace

void set_history(const Tensor& t, const Ref<Node>& node) {
  set_node(t, node, node->add_output(t));
}

void take_history(const Tensor& t, const Tensor& value) {
  set_node(t, grad_fn(value), meta(value)->output_index);
}

void fail_one_of_many(const Tensor& view, const char* what) {
  const Meta& m = *meta(view);
  fail("Output ", m.output_index, " of ", operator_name(*m.grad_fn), what,
       "This view is the output of a function that returns multiple views. "
       "Such functions do not allow the output views to be modified inplace. "
       "You should replace the inplace operation by an out-of-place one.");
}

void set_requires_grad(const Tensor& t, bool value) {
  HOTARU_CHECK(!value || is_differentiable(t.dtype()),
               "only Tensors of floating point and complex dtype can require "
               "gradients");
  HOTARU_CHECK(is_leaf(t) || value,
               "you can only change requires_grad flags of leaf variables. If "
               "you want to use a computed variable in a subgraph that doesn't "
               "require differentiation use var_no_grad = var.detach().");
  if (is_leaf(t) && (value || meta(t))) ensure_meta(t).requires_grad = value;
}

}  // namespace hotaru::autograd
