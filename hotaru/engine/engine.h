// The backward pass.
#pragma once

#include "hotaru/autograd/node.h"

namespace hotaru::autograd {

struct BackwardOptions {
  /// Keep what was saved, so that the pass can run again.
  bool retain_graph = false;
  /// Record the pass itself, for higher derivatives.
  bool create_graph = false;
  /// Call the hooks of the tensors that grad() differentiates by; false where
  /// somebody hands the gradients on to them, and their hooks run then.
  bool input_hooks = true;
};

/// Adds the gradients of `outputs` to `grad` of the leaves they depend on, or
/// only of `inputs` if there are any. `grads` are the gradients of the
/// outputs; an undefined one means 1 for a scalar. Runs in the calling thread.
/// Throws PyTorch's texts.
void backward(const Tensors& outputs, const Tensors& grads,
              const Tensors& inputs = {}, BackwardOptions options = {});

/// The gradients of `outputs` with respect to `inputs`; nothing is
/// accumulated. Undefined for an input that no output depends on, which is an
/// error unless `allow_unused`.
Tensors grad(const Tensors& outputs, const Tensors& inputs,
             const Tensors& grads, BackwardOptions options = {},
             bool allow_unused = false);

/// The same from and to places of the graph for which there may be no tensor
/// any more. Gradients of inputs that backward() accumulates go to leaves and
/// to the tensors that retain theirs.
void backward(const std::vector<Edge>& outputs, const Tensors& grads,
              const std::vector<Edge>& inputs = {},
              BackwardOptions options = {});
Tensors grad(const std::vector<Edge>& outputs, const std::vector<Edge>& inputs,
             const Tensors& grads, BackwardOptions options = {},
             bool allow_unused = false);
/// Where the gradients of outputs begin and those of inputs are due. Throw
/// PyTorch's texts for tensors that have none.
std::vector<Edge> output_edges(const Tensors& outputs);
std::vector<Edge> input_edges(const Tensors& inputs);

/// Sees a gradient; what it returns, if defined, takes its place.
using GradientHook = std::function<Tensor(const Tensor& grad)>;

/// Calls the hook with each gradient of the tensor, undefined where there is
/// none; it may return another of the same size and dtype. Errors call it by
/// its name; `owned`: see Hooks::add.
RemoveHook register_hook(const Tensor& t, GradientHook hook,
                         std::string name = "hook",
                         std::shared_ptr<void> owned = nullptr);
/// PyTorch's errors for what a hook gives in place of a gradient.
void check_replacement(const std::string& hook, const Tensor& was,
                       const Tensor& now);
/// Makes backward() store the gradient of a tensor that is no leaf.
void retain_grad(const Tensor& t);

}  // namespace hotaru::autograd
