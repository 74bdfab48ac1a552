#include "hotaru/engine/engine.h"

#include "hotaru/autograd/leaf.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/engine/pass.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::autograd {
namespace {

std::string size_text(IntSpan sizes) {
  return concat("torch.Size(", shape_text(sizes), ")");
}

/// The gradient 1 of a number.
Tensor first_gradient(const OutputInfo& output) {
  HOTARU_CHECK(numel_of(output.sizes) == 1,
               "grad can be implicitly created only for scalar outputs");
  HOTARU_CHECK(!is_complex(output.dtype),
               "grad can be implicitly created only for real scalar "
               "outputs but got ",
               output.dtype);
  return ones(output.sizes, {output.dtype, output.device});
}

/// Checks the gradients of the outputs and fills in 1.
Roots roots_of(const std::vector<Edge>& outputs, const Tensors& grads) {
  Roots out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputInfo& output = outputs[i].node->outputs().at(outputs[i].index);
    Tensor grad = i < grads.size() ? grads[i] : Tensor();
    if (grad.defined()) {
      HOTARU_CHECK(same(grad.sizes(), output.sizes),
                   "Mismatch in shape: grad_output[", i, "] has a shape of ",
                   size_text(grad.sizes()), " and output[", i,
                   "] has a shape of ", size_text(output.sizes), ".");
    } else {
      grad = first_gradient(output);
    }
    out.emplace_back(outputs[i], std::move(grad));
  }
  return out;
}

/// Lets a hook put another gradient in the place of one.
struct TensorHook {
  GradientHook hook;
  std::string name;

  Tensor operator()(const Tensor& grad) const {
    Tensor other = hook(grad);
    if (other.defined()) check_replacement(name, grad, other);
    return other;
  }
};

}  // namespace

std::vector<Edge> output_edges(const Tensors& outputs) {
  std::vector<Edge> edges;
  for (size_t i = 0; i < outputs.size(); ++i) {
    edges.push_back(gradient_edge(outputs[i]));
    HOTARU_CHECK(edges.back().node, "element ", i,
                 " of tensors does not require grad and does not have a "
                 "grad_fn");
  }
  return edges;
}

std::vector<Edge> input_edges(const Tensors& inputs) {
  std::vector<Edge> edges;
  for (const Tensor& t : inputs) {
    HOTARU_CHECK(requires_grad(t),
                 "One of the differentiated Tensors does not require grad");
    edges.push_back(gradient_edge(t));
  }
  return edges;
}

void backward(const std::vector<Edge>& outputs, const Tensors& grads,
              const std::vector<Edge>& inputs, BackwardOptions options) {
  Pass pass(roots_of(outputs, grads), options);
  if (!inputs.empty()) pass.capture(inputs, true);
  pass.run();
}

void backward(const Tensors& outputs, const Tensors& grads,
              const Tensors& inputs, BackwardOptions options) {
  for (const Tensor& t : inputs)
    if (!is_leaf(t)) retain_grad(t);
  backward(output_edges(outputs), grads, input_edges(inputs), options);
}

Tensors grad(const std::vector<Edge>& outputs, const std::vector<Edge>& inputs,
             const Tensors& grads, BackwardOptions options, bool allow_unused) {
  Pass pass(roots_of(outputs, grads), options);
  pass.capture(inputs, false);
  Tensors result = pass.run();
  for (size_t i = 0; i < result.size(); ++i)
    HOTARU_CHECK(result[i].defined() || allow_unused,
                 "The differentiated Tensor at index ", i,
                 " appears to not have been used in the graph. Set "
                 "allow_unused=True if this is the desired behavior.");
  return result;
}

Tensors grad(const Tensors& outputs, const Tensors& inputs,
             const Tensors& grads, BackwardOptions options, bool allow_unused) {
  return grad(output_edges(outputs), input_edges(inputs), grads, options,
              allow_unused);
}

namespace {

/// As `Tensor.type()` says it.
std::string type_text(const Tensor& t) {
  const std::string name(scalar_type_name(t.dtype()));
  const DeviceType type = t.device().type;
  if (type == DeviceType::kMeta) return concat("Meta", name, "Type");
  return concat("torch.", type == DeviceType::kCUDA ? "cuda." : "", name,
                "Tensor");
}

}  // namespace

void check_replacement(const std::string& hook, const Tensor& was,
                       const Tensor& now) {
  if (!now.defined()) return;
  HOTARU_CHECK(was.defined(),
               "can't replace a None gradient with a non-None value");
  HOTARU_CHECK(was.dtype() == now.dtype() && was.device() == now.device(),
               "hook '", hook, "' has changed the type of value (was ",
               type_text(was), " got ", type_text(now), ")");
  HOTARU_CHECK(same(was.sizes(), now.sizes()), "hook '", hook,
               "' has changed the size of value");
}

RemoveHook register_hook(const Tensor& t, GradientHook hook, std::string name,
                         std::shared_ptr<void> owned) {
  HOTARU_CHECK(requires_grad(t),
               "cannot register a hook on a tensor that doesn't require "
               "gradient");
  TensorHook checked{std::move(hook), std::move(name)};
  const Ref<Node> node = grad_fn(t);
  if (!node)
    return ensure_meta(t).hooks.add(std::move(checked), std::move(owned));
  const auto replace = [index = meta(t)->output_index,
                        checked = std::move(checked)](Tensors& grads) {
    if (Tensor other = checked(grads[index]); other.defined())
      grads[index] = std::move(other);
  };
  return node->tensor_hooks.add(replace, std::move(owned));
}

void retain_grad(const Tensor& t) {
  HOTARU_CHECK(requires_grad(t),
               "can't retain_grad on Tensor that has requires_grad=False");
  if (grad_fn(t)) ensure_meta(t).set_retains_grad();
}

}  // namespace hotaru::autograd
