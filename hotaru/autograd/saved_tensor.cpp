#include "hotaru/autograd/saved_tensor.h"

#include "hotaru/autograd/forward.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/inference/inference.h"

namespace hotaru::autograd {
namespace {

thread_local SavedHooksMaker hooks_maker = nullptr;

// "[torch.FloatTensor [3]]", as PyTorch describes a tensor in this message.
std::string describe(const Tensor& t) {
  return concat("[torch.", scalar_type_name(t.dtype()), "Tensor ",
                shape_text(t.sizes()), "]");
}

bool has_node(const Tensor& t) {
  const Meta* m = meta(t);
  return m && m->grad_fn;
}

/// The values as the output `edge` of the forward pass.
Tensor with_history(const Tensor& values, Edge edge, bool leaf) {
  Tensor out = make_alias(values);
  Meta& m = ensure_meta(out);
  if (leaf) {
    m.requires_grad = true;
    m.stands_for = std::move(edge.node);
  } else {
    m.grad_fn = std::move(edge.node);
    m.output_index = edge.index;
  }
  if (passes_tangent(values)) set_tangent(out, tangent(values));
  return out;
}

}  // namespace

void set_saved_hooks_maker(SavedHooksMaker maker) {
  hooks_maker = maker;
}

SavedTensor::SavedTensor(const Tensor& tensor, bool output, uint32_t version,
                         bool packable)
    : version_(version), output_(output) {
  if (!tensor.defined()) return;
  HOTARU_CHECK(
      !is_inference(tensor) || inference_mode(),
      "Inference tensors cannot be saved for backward. Please do not use "
      "Tensors created in inference mode in computation tracked by autograd. "
      "To work around this, you can make a clone to get a normal tensor and "
      "use it in autograd, or use `torch.no_grad()` instead of "
      "`torch.inference_mode()`.");
  if (output)
    if (const Meta* m = meta(tensor)) output_index_ = m->output_index;
  if (hooks_maker && packable && !tensor.impl()->wrapped_number)
    if (auto hooks = hooks_maker()) pack(std::move(hooks), tensor, tensor);
  if (packed_) return;
  tensor_ = output ? make_alias(tensor) : tensor;
  made_ = !output && has_node(tensor);
}

void SavedTensor::pack(std::unique_ptr<SavedHooks> hooks, const Tensor& seen,
                       const Tensor& history) {
  auto packed = std::make_unique<Packed>();
  if (!output_ && requires_grad(history)) {
    packed->edge = gradient_edge(history);
    packed->leaf = is_leaf(history);
  }
  const NoGrad no_grad;
  const uint32_t before = seen.version();
  hooks->pack(seen);
  HOTARU_CHECK(
      seen.version() == before,
      "A saved tensor pack hook is modifying its input in place. Tensors "
      "provided as input to pack hook cannot be modified by in-place "
      "operations as this can lead to unexpected side-effects. Please open an "
      "issue if you need to perform in-place operations on the input to a "
      "pack hook.");
  packed->hooks = std::move(hooks);
  packed_ = std::move(packed);
}

void SavedTensor::carry(const Tensor& tangent) {
  if (tangent.defined() && tensor_.defined()) set_tangent(tensor_, tangent);
}

void SavedTensor::set_hooks(std::unique_ptr<SavedHooks> hooks) {
  HOTARU_CHECK(!packed_,
               "Calling register_hooks on a saved tensor whose hooks have "
               "already been set. Hint: only one pair of hooks is allowed at a "
               "time.");
  HOTARU_CHECK(tensor_.defined(),
               "Calling register_hooks on a saved tensor with value None is "
               "forbidden");
  pack(std::move(hooks), make_alias(tensor_), tensor_);
  tensor_ = {};
}

void SavedTensor::check_version(Node* owner) const {
  if (tensor_.version() == version_ || !tensor_.impl()->tracks_version) return;
  const Ref<Node> maker = output_ ? Ref<Node>(owner) : grad_fn(tensor_);
  const Meta* m = meta(tensor_);
  const uint32_t index = output_ ? output_index_ : m ? m->output_index : 0;
  fail(
      "one of the variables needed for gradient computation has been "
      "modified by an inplace operation: ",
      describe(tensor_),
      maker ? concat(", which is output ", index, " of ",
                     maker->operator_name(), ",")
            : std::string(),
      " is at version ", tensor_.version(), "; expected version ", version_,
      " instead. Hint: ",
      anomaly_enabled()
          ? "the backtrace further above shows the operation that failed to "
            "compute its gradient. The variable in question was changed in "
            "there or anywhere later. Good luck!"
          : "enable anomaly detection to find the operation that failed to "
            "compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False).");
}

Tensor SavedTensor::unpack_packed(Node* owner) const {
  const Tensor values = packed_->hooks->unpack();
  Edge edge = output_ ? Edge{Ref<Node>(owner), output_index_} : packed_->edge;
  if (edge.node) return with_history(values, std::move(edge), packed_->leaf);
  return requires_grad(values) ? make_alias(values) : values;
}

Tensor SavedTensor::unpack(Node* owner) const {
  if (packed_) return unpack_packed(owner);
  if (!tensor_.defined()) return {};
  check_version(owner);
  HOTARU_CHECK(!made_ || has_node(tensor_),
               "Trying to use a saved tensor that has been detached in-place, "
               "i.e. with .detach_(). This is not supported, please use "
               "out-of-place `.detach()` instead");
  if (!output_) return tensor_;
  return with_history(tensor_, {Ref<Node>(owner), output_index_}, false);
}

void SavingNode::release_saved() {
  released = true;
  saved.clear();
}

void SavingNode::check_kept() const {
  HOTARU_CHECK(
      !released,
      "Trying to backward through the graph a second time (or directly "
      "access saved tensors after they have already been freed). Saved "
      "intermediate values of the graph are freed when you call "
      ".backward() or autograd.grad(). Specify retain_graph=True if "
      "you need to backward through the graph a second time or if you "
      "need to access saved tensors after calling backward.");
}

Tensor SavingNode::unpack(size_t i) {
  check_kept();
  return saved[i].unpack(this);
}

}  // namespace hotaru::autograd
