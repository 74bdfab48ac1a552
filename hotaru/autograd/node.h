// The backward graph: one node an operation, edges to where gradients go.
#pragma once

#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "hotaru/autograd/anomaly.h"
#include "hotaru/autograd/hooks.h"
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

/// Look of a forward output, to check and fill in its gradient.
struct OutputInfo {
  Dims sizes;
  DType dtype = DType::kFloat32;
  Device device;
  /// Dtype that the gradient is cast to; none: it stays as it comes.
  std::optional<DType> grad_dtype = std::nullopt;
};

inline bool any_defined(const Tensors& tensors) {
  for (const Tensor& t : tensors)
    if (t.defined()) return true;
  return false;
}

/// A step of the backward pass. Built in the forward pass by one thread; run
/// by one thread at a time.
class Node : public RefCounted {
 public:
  explicit Node(std::string name);
  ~Node() override;
  /// Nodes that go because another one goes wait for their turn: graphs are
  /// deeper than stacks.
  static void operator delete(Node* node, std::destroying_delete_t) noexcept;

  /// Asked when the last owner lets go: whether somebody else owns the node
  /// from now on (a Python object that stands for it).
  virtual bool outlives() { return false; }

  /// Gradients of the forward inputs from those of the outputs, undefined
  /// meaning zero (all of them may be); one an edge, missing ones undefined.
  virtual Tensors apply(Tensors grads) = 0;
  /// Frees what was saved for the backward pass.
  virtual void release_saved() {}
  /// Before apply(): whether what was saved is kept for another pass. At first
  /// it is.
  virtual void set_keeps_saved(bool keeps) { (void)keeps; }

  /// The stream of the forward operation, on which apply() runs too.
  const Stream& stream() const { return stream_; }
  /// As printed: "AddBackward0".
  const std::string& name() const { return name_; }
  /// As messages call the operation: "Add".
  std::string operator_name() const;
  /// Later operations have larger numbers: the engine's order.
  uint64_t sequence() const { return sequence_; }
  void set_sequence(uint64_t sequence) { sequence_ = sequence; }
  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<OutputInfo>& outputs() const { return outputs_; }
  void add_edge(Edge edge) { edges_.push_back(std::move(edge)); }
  /// Registers a forward output; returns its index.
  uint32_t add_output(const Tensor& output);
  /// Counts a forward output that is no tensor, whose gradient is undefined.
  void skip_output() { outputs_.emplace_back(); }
  /// Says of which dtype an output's gradient comes; none: of any.
  void set_grad_dtype(uint32_t output, std::optional<DType> dtype) {
    outputs_[output].grad_dtype = dtype;
  }

  /// The hooks of the outputs as tensors, which run first, whoever wants the
  /// gradients; may replace them.
  virtual void run_tensor_hooks(Tensors& grads);
  /// Run before and after apply; may replace gradients.
  Hooks<void(Tensors&grads)> tensor_hooks, pre_hooks;
  Hooks<void(Tensors& inputs, const Tensors& grads)> post_hooks;

  /// The outputs that retain their gradient.
  std::vector<std::pair<uint32_t, Ref<Meta>>> retained() const;
  /// The Python object that stands for this node, not owned.
  void* python_object = nullptr;
  /// Null unless somebody asked for them.
  std::unique_ptr<NodeNotes> notes;

 private:
  friend struct Meta;

  std::string name_;
  Stream stream_;
  uint64_t sequence_;
  std::vector<Edge> edges_;
  std::vector<OutputInfo> outputs_;
  /// Tensors that retain their gradient, by output; each takes itself out.
  std::vector<std::pair<uint32_t, Meta*>> retained_;
  Node* next_to_free_ = nullptr;
};

/// How a view came about, where that limits what may be written through it.
enum class ViewOrigin : uint8_t {
  kPlain,
  kNoGrad,     // made while nothing was recorded
  kInference,  // made in inference mode
  kOneOfMany,  // one of several that an operator gave
  kFunction,   // made by a function that is written in Python
};

/// State that autograd keeps about a tensor.
struct Meta : AutogradMeta {
  ~Meta() override;
  /// Makes the tensor output `index` of `node`, which may be null. If it
  /// retains its gradient, that is from now on the one of these values.
  void set_node(Ref<Node> node, uint32_t index);
  void set_retains_grad();

  Tensor grad;
  /// Tangent of a dual number, while its level is open (autograd/forward.h).
  Tensor tangent;
  Ref<Node> grad_fn;
  uint32_t output_index = 0;
  bool requires_grad = false;  // of a leaf
  bool retains_grad = false;
  /// See shared_meta(); never written.
  bool shared = false;
  /// Origin of a view; and the storage's version when its grad_fn was made.
  ViewOrigin origin = ViewOrigin::kPlain;
  uint32_t view_version = 0;
  /// The transform that ran when the leaf began to ask for gradients, as
  /// set_leaf_level() was told; 0 for none.
  uint32_t level = 0;
  /// The leaf's AccumulateGrad, not owned; it outlives no edge to it.
  Node* accumulator = nullptr;
  /// AccumulateGrad of the original, for a leaf that hooks gave back.
  Ref<Node> stands_for;
  /// Made at need, for those who want to know whether the tensor lives.
  std::shared_ptr<void> life;
  /// Object that an operator computed from a leaf's value and keeps, if any
  /// (ops/rnn/rnn_weights.cpp, under its lock).
  Ref<RefCounted> derived;
  /// Hooks of a leaf; what they return replaces the gradient if it is defined.
  Hooks<Tensor(const Tensor& grad)> hooks;
  Hooks<void(const Tensor& leaf)> post_accumulate_hooks;
  /// Dtype of a leaf's gradient where a program said it, which may be any.
  std::optional<std::optional<DType>> grad_dtype;
};

/// The tensor's meta, or null.
inline Meta* meta(const Tensor& t) {
  return static_cast<Meta*>(t.impl()->autograd.get());
}
/// The tensor's meta, made at need; its own even where it shared one.
Meta& ensure_meta(const Tensor& t);

/// Meta of all those views that have no history and nothing else to remember
/// than how they came about. One object for each thread and origin, so that
/// such views cost as much as others.
const Ref<Meta>& shared_meta(ViewOrigin origin);

/// A copy of the tensor's history without its gradient and hooks, or null.
Ref<Meta> copy_history(const Tensor& t);

/// Returns how a view came about; kPlain for a tensor that is no view.
inline ViewOrigin view_origin(const Tensor& t) {
  const Meta* m = meta(t);
  return m ? m->origin : ViewOrigin::kPlain;
}

/// Tells whether gradients flow to the tensor: a leaf that asks, or history.
/// Views do as their base does.
inline bool requires_grad(const Tensor& t) {
  if (!t.defined()) return false;
  if (const Meta* m = meta(t)) {
    if (m->requires_grad || m->grad_fn) return true;
  }
  const TensorImpl* base = t.impl()->base.get();
  if (!base || !base->autograd) return false;
  const Meta& m = static_cast<const Meta&>(*base->autograd);
  return m.requires_grad || m.grad_fn;
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
/// Throws PyTorch's errors for writes that a view's origin forbids: into the
/// view, or those that happened to its base.
void check_origin(const Tensor& view, const char* what);
inline constexpr char kModified[] = "is being modified inplace";
/// Throws PyTorch's errors for dtypes and for non-leaves.
void set_requires_grad(const Tensor& t, bool value);
/// Marks what begins to ask for gradients on this thread as `level`'s, until
/// told another; returns the level before. A transform of functions tells by it
/// its own leaves, which are no caller's business, from those of others.
uint32_t set_leaf_level(uint32_t level);

}  // namespace hotaru::autograd
