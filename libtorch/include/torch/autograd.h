// Gradients: passes, modes, functions of one's own.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ATen/ATen.h"
#include "ATen/core/ivalue.h"
#include "c10/core/GradMode.h"
#include "hotaru/autograd/node.h"

namespace torch {

using c10::InferenceMode;

namespace autograd {

using Variable = at::Tensor;
using tensor_list = std::vector<at::Tensor>;
using variable_list = tensor_list;
inline bool any_variable_requires_grad(const variable_list& variables) {
  for (const Variable& v : variables)
    if (v.defined() && v.requires_grad()) return true;
  return false;
}
using at::AutoGradMode;
using at::GradMode;

/// A step of the backward pass, to look at.
struct Node {
  explicit Node(hotaru::Ref<hotaru::autograd::Node> node)
      : node_(std::move(node)) {}
  /// "AddBackward0".
  std::string name() const { return node_->name(); }
  size_t num_inputs() const { return node_->outputs().size(); }
  size_t num_outputs() const { return node_->edges().size(); }
  uint64_t sequence_nr() const { return node_->sequence(); }
  /// Null where a gradient goes nowhere.
  std::shared_ptr<Node> next_edge(size_t i) const;
  const hotaru::Ref<hotaru::autograd::Node>& hotaru_node() const {
    return node_;
  }

 private:
  hotaru::Ref<hotaru::autograd::Node> node_;
};

/// Adds the gradients of `tensors` to `grad` of the leaves they depend on, or
/// only of `inputs`. `grad_tensors` are the gradients of the tensors; one that
/// is missing means 1 for a scalar. Throws PyTorch's texts.
void backward(const variable_list& tensors,
              const variable_list& grad_tensors = {},
              std::optional<bool> retain_graph = {}, bool create_graph = false,
              const variable_list& inputs = {});

/// The gradients of `outputs` with respect to `inputs`; nothing is accumulated.
variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs = {},
                   std::optional<bool> retain_graph = {},
                   bool create_graph = false, bool allow_unused = false);

/// Finds the operation whose gradient fails, or is not a number: of all
/// threads, see docs/autograd of PyTorch. Off at first.
struct AnomalyMode {
  static bool is_enabled();
  static bool should_check_nan();
  static void set_enabled(bool enabled, bool check_nan = true);
};
/// On for a scope.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true)
      : enabled_(AnomalyMode::is_enabled()),
        checks_(AnomalyMode::should_check_nan()) {
    AnomalyMode::set_enabled(true, check_nan);
  }
  ~DetectAnomalyGuard() { AnomalyMode::set_enabled(enabled_, checks_); }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool enabled_, checks_;
};

/// Context that a Function's forward leaves for its backward.
struct AutogradContext {
  /// Kept until the backward pass, and checked for writes in between.
  void save_for_backward(variable_list tensors) {
    to_save_ = std::move(tensors);
  }
  /// Throws PyTorch's texts when they were freed or written.
  variable_list get_saved_variables() const;
  /// For inputs that forward wrote into, and returns.
  void mark_dirty(const variable_list& inputs);
  /// For outputs without gradients.
  void mark_non_differentiable(const variable_list& outputs);
  /// Sets whether backward gets zeros (at first) or undefined tensors for
  /// gradients that are not there.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Tells whether the gradient of forward's i-th argument is wanted.
  bool needs_input_grad(size_t i) const;

  /// Whatever is no tensor.
  std::unordered_map<std::string, at::IValue> saved_data;

 private:
  friend struct FunctionCall;
  friend class FunctionNode;

  variable_list to_save_;
  variable_list dirty_, non_differentiable_;
  bool materialize_grads_ = true;
  /// Flags of each argument; which are tensors.
  std::vector<bool> is_tensor_, needs_grad_;
  hotaru::autograd::Node* node_ = nullptr;
};

/// One call of a Function: what does not depend on its type.
struct FunctionCall {
  using Backward = variable_list (*)(AutogradContext*, variable_list);

  FunctionCall(std::string name, Backward backward)
      : context(std::make_shared<AutogradContext>()),
        name_(std::move(name)),
        backward_(backward) {}

  void argument(const at::Tensor& tensor);
  void argument(const variable_list& tensors) {
    argument(at::TensorList(tensors));
  }
  void argument(const at::TensorList& tensors) {
    for (const at::Tensor& t : tensors) argument(t);
  }
  void argument(const std::optional<at::Tensor>& tensor) {
    argument(tensor.value_or(at::Tensor()));
  }
  template <class T>
  void argument(const T&) {
    context->is_tensor_.push_back(false);
    context->needs_grad_.push_back(false);
  }
  /// The outputs of forward, with their history.
  variable_list record(variable_list outputs);

  std::shared_ptr<AutogradContext> context;

 private:
  std::string name_;
  Backward backward_;
  variable_list inputs_;
};

/// Base of differentiable functions: struct F : Function<F> with static
/// forward(AutogradContext*, ...) and backward(AutogradContext*, tensor_list),
/// which gives one gradient (maybe undefined) for each of forward's arguments.
/// Call F::apply(...).
template <class T>
struct Function {
  template <class X = T, class... Args>
  static auto apply(Args&&... args) {
    FunctionCall call(typeid(T).name(), &X::backward);
    (call.argument(static_cast<const std::decay_t<Args>&>(args)), ...);
    const auto forward = [&] {
      const at::AutoGradMode off(false);
      return X::forward(call.context.get(), std::forward<Args>(args)...);
    };
    using Result = decltype(forward());
    if constexpr (std::is_same_v<Result, at::Tensor>)
      return call.record({forward()})[0];
    else
      return call.record(forward());
  }
};

}  // namespace autograd
}  // namespace torch
