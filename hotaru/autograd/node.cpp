#include "hotaru/autograd/node.h"

#include <atomic>
#include <mutex>

#include "hotaru/autograd/record.h"

namespace hotaru::autograd {
namespace {

std::atomic<uint64_t> next_sequence{0};

// Guards Node::retained_: a tensor may go while a pass looks at its node.
std::mutex& retained_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
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
      stream_(current_stream({})),
      sequence_(next_sequence.fetch_add(1, std::memory_order_relaxed)) {}

Node::~Node() = default;

void Node::operator delete(Node* node, std::destroying_delete_t) noexcept {
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
  outputs_.push_back({output.sizes(), output.dtype(), output.device()});
  return uint32_t(outputs_.size() - 1);
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
  if (passes_tangent(tensor_)) set_tangent(out, tangent(tensor_));
  return out;
}

void SavedTensor::carry(const Tensor& tangent) {
  if (tangent.defined()) set_tangent(tensor_, tangent);
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
  if (!slot) slot = make_ref<Meta>();
  return static_cast<Meta&>(*slot);
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
  const bool inference = origin == ViewOrigin::kInference;
  const Meta* m = meta(view);
  const bool recorded = m && m->grad_fn;
  const std::string created =
      concat("was created in ", inference ? "inference" : "no_grad", " mode");
  const std::string subject =
      recorded ? concat("Output ", m->output_index, " of ",
                        operator_name(*m->grad_fn), " is a view",
                        many ? "" : concat(" of a view which ", created))
               : concat("A view ", created);
  const char* mode = inference ? " in normal mode" : " with grad mode enabled";
  const char* block = inference ? "inference_mode" : "no_grad";
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
  HOTARU_CHECK(is_leaf(t) || value,
               "you can only change requires_grad flags of leaf variables. If "
               "you want to use a computed variable in a subgraph that doesn't "
               "require differentiation use var_no_grad = var.detach().");
  if (is_leaf(t) && (value || meta(t))) ensure_meta(t).requires_grad = value;
}

}  // namespace hotaru::autograd
