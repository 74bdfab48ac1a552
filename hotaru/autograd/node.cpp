#include "hotaru/autograd/node.h"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/inference/inference.h"

namespace hotaru::autograd {
namespace {

std::atomic<uint64_t> next_sequence{0};
constinit thread_local uint32_t leaf_level = 0;

// Guards Node::retained_: a tensor may go while a pass looks at its node.
std::mutex& retained_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

}  // namespace

Node::Node(std::string name)
    : notes(make_notes()),
      name_(std::move(name)),
      stream_(current_stream({})),
      sequence_(next_sequence.fetch_add(1, std::memory_order_relaxed)) {}

Node::~Node() = default;

void Node::operator delete(Node* node, std::destroying_delete_t) noexcept {
  if (node->outlives()) return;
  thread_local Node* waiting = nullptr;
  thread_local bool freeing = false;
  node->next_to_free_ = std::exchange(waiting, node);
  if (freeing) return;
  freeing = true;
  while (waiting) {
    Node* next = waiting;
    waiting = next->next_to_free_;
    next->~Node();
    ::operator delete(next);
  }
  freeing = false;
}

uint32_t Node::add_output(const Tensor& output) {
  if (outputs_.empty() && !output.device().is_cpu())
    stream_ = current_stream(output.device());
  outputs_.push_back(
      {output.sizes(), output.dtype(), output.device(), output.dtype()});
  return uint32_t(outputs_.size() - 1);
}

// "Exp" for "ExpBackward0".
std::string Node::operator_name() const {
  const size_t last = name_.find_last_not_of("0123456789");
  constexpr std::string_view kSuffix = "Backward";
  if (last + 1 >= kSuffix.size() && last + 1 < name_.size() &&
      name_.compare(last + 1 - kSuffix.size(), kSuffix.size(), kSuffix) == 0)
    return name_.substr(0, last + 1 - kSuffix.size());
  return name_;
}

void Node::run_tensor_hooks(Tensors& grads) {
  for (const auto& hook : tensor_hooks.now()) hook(grads);
}

std::vector<std::pair<uint32_t, Ref<Meta>>> Node::retained() const {
  std::vector<std::pair<uint32_t, Ref<Meta>>> out;
  if (retained_.empty()) return out;
  std::lock_guard lock(retained_mutex());
  for (const auto& [index, meta] : retained_)
    if (meta->try_retain()) out.emplace_back(index, Ref<Meta>::adopt(meta));
  return out;
}

Meta::~Meta() {
  if (tangent.defined()) forget_tangent(*this);
  set_node(nullptr, 0);
  // Gradients have gradients, however long their chain is.
  const auto sole_meta = [](const Tensor& t) {
    return t.defined() && t.ref()->use_count() == 1 && meta(t) &&
           meta(t)->use_count() == 1;
  };
  while (sole_meta(grad)) {
    const Tensor next = std::move(meta(grad)->grad);
    grad = next;
  }
}

void Meta::set_node(Ref<Node> node, uint32_t index) {
  if (retains_grad) {
    std::lock_guard lock(retained_mutex());
    if (grad_fn)
      std::erase_if(grad_fn->retained_,
                    [this](const auto& kept) { return kept.second == this; });
    if (node) node->retained_.emplace_back(index, this);
  }
  grad_fn = std::move(node);
  output_index = index;
}

void Meta::set_retains_grad() {
  if (retains_grad || !grad_fn) return;
  retains_grad = true;
  set_node(grad_fn, output_index);
}

Meta& ensure_meta(const Tensor& t) {
  Ref<AutogradMeta>& slot = t.impl()->autograd;
  if (const Meta* m = meta(t); !m || m->shared) {
    const ViewOrigin origin = view_origin(t);
    slot = make_ref<Meta>();
    meta(t)->origin = origin;
  }
  return static_cast<Meta&>(*slot);
}

const Ref<Meta>& shared_meta(ViewOrigin origin) {
  thread_local std::array<Ref<Meta>, size_t(ViewOrigin::kFunction) + 1> made;
  Ref<Meta>& found = made[size_t(origin)];
  if (!found) {
    found = make_ref<Meta>();
    found->shared = true;
    found->origin = origin;
  }
  return found;
}

void set_history(const Tensor& t, const Ref<Node>& node) {
  ensure_meta(t).set_node(node, node->add_output(t));
  ensure_meta(t).view_version = t.version();
}

void take_history(const Tensor& t, const Tensor& value) {
  ensure_meta(t).set_node(grad_fn(value), meta(value)->output_index);
}

void check_origin(const Tensor& view, const char* what) {
  const ViewOrigin origin = view_origin(view);
  if (origin == ViewOrigin::kPlain) return;
  const bool many = origin == ViewOrigin::kOneOfMany;
  const bool function = origin == ViewOrigin::kFunction;
  const bool inference = origin == ViewOrigin::kInference;
  const Meta* m = meta(view);
  const bool recorded = m && m->grad_fn;
  const std::string created =
      concat("was created in ", inference ? "inference" : "no_grad", " mode");
  const std::string subject =
      recorded
          ? concat("Output ", m->output_index, " of ",
                   m->grad_fn->operator_name(), " is a view",
                   many || function ? "" : concat(" of a view which ", created))
          : concat("A view ", created);
  const char* mode = inference ? " in normal mode" : " with grad mode enabled";
  const char* block = inference ? "inference_mode" : "no_grad";
  HOTARU_CHECK(
      !function, subject, " and ", what, recorded ? "" : mode,
      ". This view was created inside a custom Function (or because an input "
      "was returned as-is) and the autograd logic to handle view+inplace would "
      "override the custom backward associated with the custom Function, "
      "leading to incorrect gradients. This behavior is forbidden. You can fix "
      "this by cloning the output of the custom Function.");
  HOTARU_CHECK(
      !many, subject, " and ", what, recorded ? "" : mode,
      ". This view is the output of a function that returns multiple views. "
      "Such functions do not allow the output views to be modified inplace. "
      "You should replace the inplace operation by an out-of-place one.");
  fail(subject, " and ", what, mode,
       ". Given that this use case is ambiguous and error-prone, it is "
       "forbidden. You can clarify your code by moving both the view and the "
       "inplace either both inside the ",
       block,
       " block (if you don't want the inplace to be tracked) or both outside "
       "(if you want the inplace to be tracked).");
}

void set_requires_grad(const Tensor& t, bool value) {
  HOTARU_CHECK(!value || is_differentiable(t.dtype()),
               "only Tensors of floating point and complex dtype can require "
               "gradients");
  HOTARU_CHECK(!value || !is_inference(t) || inference_mode(),
               "Setting requires_grad=True on inference tensor outside "
               "InferenceMode is not allowed.");
  HOTARU_CHECK(is_leaf(t) || value,
               "you can only change requires_grad flags of leaf variables. If "
               "you want to use a computed variable in a subgraph that doesn't "
               "require differentiation use var_no_grad = var.detach().");
  if (!is_leaf(t) || !(value || meta(t))) return;
  Meta& m = ensure_meta(t);
  if (value && !m.requires_grad) m.level = leaf_level;
  m.requires_grad = value;
}

uint32_t set_leaf_level(uint32_t level) {
  return std::exchange(leaf_level, level);
}

}  // namespace hotaru::autograd
