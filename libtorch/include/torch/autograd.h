// Gradients: passes, modes, functions of one's own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ATen/ATen.h"
#include "ATen/core/ivalue.h"
#include "c10/core/GradMode.h"
#include "torch/csrc/autograd/function.h"

namespace torch {

using c10::InferenceMode;

namespace autograd {

inline bool any_variable_requires_grad(const variable_list& variables) {
  for (const Variable& v : variables)
    if (v.defined() && v.requires_grad()) return true;
  return false;
}
using at::AutoGradMode;
using at::GradMode;

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

using _jvp_fn_t = std::function<variable_list(variable_list, variable_list)>;
using _view_as_self_fn_t = std::function<at::Tensor(at::Tensor)>;

/// For _wrap_outputs().
std::vector<std::optional<Variable>> to_optional(const Variable& output);
std::vector<std::optional<Variable>> to_optional(const variable_list& outputs);

/// The outputs of a function that was computed where nothing is recorded, as
/// outputs of `node`; without it they have no history. What is given back of
/// the inputs but not written is another tensor then. Forward mode's function
/// and the way to make a view are not called. Throws PyTorch's texts.
std::vector<std::optional<Variable>> _wrap_outputs(
    const variable_list& inputs,
    const std::unordered_set<at::TensorImpl*>& non_differentiable,
    const std::unordered_set<at::TensorImpl*>& dirty_inputs,
    const std::vector<std::optional<Variable>>& outputs,
    const std::shared_ptr<Node>& node, const _jvp_fn_t& jvp = {},
    const std::unordered_set<at::TensorImpl*>& to_save = {},
    const _view_as_self_fn_t& view_as_self = {}, bool pure_view = false);

}  // namespace autograd
}  // namespace torch
