// The backward graph: one node an operation, edges to where gradients go.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::autograd {

using Tensors = std::vector<Tensor>;
class Node;
struct Meta;

/// Output `index` of a node's forward operation; where its gradient is due.
struct Edge {
  Ref<Node> node;
  uint32_t index = 0;
};

/// What a forward output looked like, to check and fill in its gradient.
struct OutputInfo {
  Dims sizes;
  DType dtype = DType::kFloat32;
  Device device;
};

/// A step of the backward pass. Built in the forward pass by one thread; run
/// by one thread at a time.
class Node : public RefCounted {
 public:
  explicit Node(std::string name);
  ~Node() override;

  /// Gradients of the forward inputs from those of the outputs, undefined
  /// meaning zero; one an edge.
  virtual Tensors apply(Tensors grads) = 0;
  /// Frees what was saved for the backward pass.
  virtual void release_saved() {}

  /// The stream of the forward operation, on which apply() runs too.
  const Stream& stream() const { return stream_; }
  /// As printed: "AddBackward0".
  const std::string& name() const { return name_; }
  /// Later operations have larger numbers: the engine's order.
  uint64_t sequence() const { return sequence_; }
  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<OutputInfo>& outputs() const { return outputs_; }
  void add_edge(Edge edge) { edges_.push_back(std::move(edge)); }
  /// Registers a forward output; returns its index.
  uint32_t add_output(const Tensor& output);

  using PreHook = std::function<void(Tensors& grads)>;
  using PostHook = std::function<void(Tensors& inputs, const Tensors& grads)>;
  /// Run before and after apply; may replace gradients. Returns an id.
  int64_t add_pre_hook(PreHook hook);
  int64_t add_post_hook(PostHook hook);
  void remove_hook(int64_t id);
  std::vector<std::pair<int64_t, PreHook>> pre_hooks;
  std::vector<std::pair<int64_t, PostHook>> post_hooks;
  /// Tensors whose gradient is to be kept, by output; each takes itself out
  /// when it goes.
  std::vector<std::pair<uint32_t, Meta*>> retained;
  /// The Python object that stands for this node, not owned.
  void* python_object = nullptr;

 protected:
  /// For leaves, whose turn comes as soon as it is due.
  void set_sequence(uint64_t sequence) { sequence_ = sequence; }

 private:
  std::string name_;
  Stream stream_;
  uint64_t sequence_;
  std::vector<Edge> edges_;
  std::vector<OutputInfo> outputs_;
};

/// A tensor kept for the backward pass, together with the version it had.
/// A saved output of the node itself keeps no cycle alive.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// `version` is what the tensor's version must be at unpack.
  SavedTensor(const Tensor& tensor, bool output, uint32_t version);
  /// The tensor, with its history. Throws PyTorch's text when it was written
  /// in place since.
  Tensor unpack(Node* owner) const;

 private:
  Tensor tensor_;
  uint32_t version_ = 0;
  uint32_t output_index_ = 0;
  bool output_ = false;
};

/// What autograd keeps about a tensor.
struct Meta : AutogradMeta {
  ~Meta() override;
  Tensor grad;
  Ref<Node> grad_fn;
  uint32_t output_index = 0;
  bool requires_grad = false;  // of a leaf
  bool retains_grad = false;
  /// One of several views that an operator gave: not to be written in place.
  bool one_of_many = false;
  /// Version of the base when a view's grad_fn was made.
  uint32_t view_version = 0;
  /// The leaf's AccumulateGrad, not owned; it outlives no edge to it.
  Node* accumulator = nullptr;
  using Hook = std::function<Tensor(const Tensor& grad)>;
  std::vector<std::pair<int64_t, Hook>> hooks;
  std::vector<std::pair<int64_t, std::function<void(const Tensor&)>>>
      post_accumulate_hooks;
};

/// The tensor's meta, or null.
inline Meta* meta(const Tensor& t) {
  return static_cast<Meta*>(t.impl()->autograd.get());
}
/// The tensor's meta, made at need.
Meta& ensure_meta(const Tensor& t);

/// A copy of the tensor's history without its gradient and hooks, or null.
Ref<Meta> copy_history(const Tensor& t);

/// Whether gradients flow to the tensor: a leaf that asks, or history. A view
/// without any inherits what was since written into its base.
inline bool requires_grad(const Tensor& t) {
  if (!t.defined()) return false;
  if (const Meta* m = meta(t)) {
    if (m->requires_grad || m->grad_fn) return true;
  }
  const TensorImpl* base = t.impl()->base.get();
  return base && base->autograd &&
         static_cast<Meta*>(base->autograd.get())->grad_fn;
}
/// The node that made the tensor, or null. Brings a view up to date whose
/// base was written in place.
Ref<Node> grad_fn(const Tensor& t);
inline bool is_leaf(const Tensor& t) {
  return !grad_fn(t);
}
/// Where the tensor's gradient is due; a null node when nowhere.
Edge gradient_edge(const Tensor& t);
/// Makes `t` output of the node.
void set_history(const Tensor& t, const Ref<Node>& node);
/// Makes `t` the output that `value` is, of the node that made it.
void take_history(const Tensor& t, const Tensor& value);
/// The error for a write into one of several views of a node, or their base.
[[noreturn]] void fail_one_of_many(const Tensor& view, const char* what);
/// Throws PyTorch's errors for dtypes and for non-leaves.
void set_requires_grad(const Tensor& t, bool value);

}  // namespace hotaru::autograd
