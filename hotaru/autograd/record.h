// How an operator records its gradient: one call after the kernel.
#pragma once

#include <span>

#include "hotaru/autograd/forward.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/saved_tensor.h"

namespace hotaru::autograd {

/// Tells whether an operator on these inputs has to record: for gradients, or
/// for tangents. Cheap when not.
template <class... T>
bool needs_grad(const T&... inputs) {
  return ((requires_grad(inputs) || ...) && grad_enabled()) ||
         (dual_level_open() && (passes_tangent(inputs) || ...));
}
inline bool needs_grad(const Tensors& inputs) {
  for (const Tensor& t : inputs)
    if (needs_grad(t)) return true;
  return false;
}

class RecordedNode;

/// Side of a node that its formula sees.
class Backward {
 public:
  explicit Backward(RecordedNode& node) : node_(node) {}
  /// True if the gradient of the i-th input is wanted.
  bool needs(size_t i) const;
  /// Where that gradient is due.
  const Edge& edge(size_t i) const;
  /// Where gradients of the first output are due: the node itself.
  Edge own_edge() const;
  /// The node's name.
  const std::string& name() const;
  /// The i-th saved tensor; undefined if it was saved so. Throws PyTorch's
  /// texts when it was freed or modified in place.
  Tensor saved(size_t i) const;
  /// True if what was saved may be asked for again: by another pass.
  bool keeps_saved() const;

 private:
  RecordedNode& node_;
};

/// Gradients of the inputs, in their order, from those of the outputs. May
/// give undefined tensors for inputs that need none. Must use differentiable
/// operators: it is itself recorded under create_graph.
using Formula = std::function<Tensors(Backward&, const Tensors& grads)>;

/// A tensor to keep for the formula: an input as it was, or an output.
struct Save {
  Save(const Tensor& t, bool output = false) : tensor(&t), output(output) {}
  const Tensor* tensor;
  bool output;
};
inline Save saved_output(const Tensor& t) {
  return {t, true};
}

/// Makes `outputs` results of a node called `name` with edges to `inputs`
/// (undefined and integer ones count as not needed). Call it only if
/// needs_grad(inputs...), after the kernel was enqueued and, for an in-place
/// operator, before the version is bumped. An output that is also an input
/// was written in place: its history is rebased, through its base if it is a
/// view. `formula` must not capture tensors: they go through `saved`.
void record(const char* name, const Tensors& outputs,
            std::initializer_list<Tensor> inputs,
            std::initializer_list<Save> saved, Formula formula);
void record(const char* name, const Tensors& outputs, const Tensors& inputs,
            const std::vector<Save>& saved, Formula formula);

/// The same for one output whose formula takes one, defined, gradient.
template <class F>
void record(const char* name, const Tensor& output,
            std::initializer_list<Tensor> inputs,
            std::initializer_list<Save> saved, F formula) {
  record(name, Tensors{output}, inputs, saved,
         Formula([f = std::move(formula)](Backward& b, const Tensors& grads)
                     -> Tensors { return f(b, grads[0]); }));
}

/// A view of self that knows whether it was made where gradients are recorded.
Tensor view_of(const Tensor& self, DType dtype, IntSpan sizes, IntSpan strides,
               int64_t offset);

/// Throws for a view that must not have a history, unless nobody else holds its
/// base.
void check_history_in_view(const Tensor& view);

/// Before an operator writes into `self`: throws PyTorch's error when self is
/// a leaf that requires grad, or a view of one, or an inference tensor outside
/// of inference mode.
void check_inplace(const Tensor& self);
/// The same where what is written may bring `sources`' history: throws for a
/// view that can't pass it on to a base that others hold.
template <class First, class... Rest>
void check_inplace(const Tensor& self, const First& first,
                   const Rest&... sources) {
  check_inplace(self);
  if (view_origin(self) != ViewOrigin::kPlain && needs_grad(first, sources...))
    check_history_in_view(self);
}

/// Is told of each tensor that an operator of this thread is about to write;
/// null for nobody. Gives the former listener.
using WriteListener = void (*)(const Tensor& self);
WriteListener set_write_listener(WriteListener listener);
/// Tells the listener, of what is written without check_inplace().
void tell_write(const Tensor& self);

/// The node behind record().
class RecordedNode final : public SavingNode {
 public:
  RecordedNode(const char* name, Formula formula)
      : SavingNode(name), formula_(std::move(formula)) {}
  Tensors apply(Tensors grads) override;
  void set_keeps_saved(bool keeps) override { keeps_saved_ = keeps; }
  bool keeps_saved() const { return keeps_saved_; }

  /// Places of the saved tensors: which input each was; of an output o, -1 - o.
  std::vector<int16_t> places;

 private:
  Formula formula_;
  bool keeps_saved_ = true;
};

/// Gives the outputs of an operator the tangents that follow from those of
/// its inputs (autograd/forward.h). `read` are the tensors that the formula
/// saved, with the values they had before the operator.
void push_tangents(const Tensors& outputs, std::span<const Tensor> inputs,
                   const Tensors& read, const Formula& formula);

}  // namespace hotaru::autograd
