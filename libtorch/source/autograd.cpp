// Autograd's side of tensors, and functions that programs differentiate
// themselves.
#include "torch/autograd.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "ATen/Functions.h"
#include "c10/util/Type.h"
#include "hotaru/autograd/anomaly.h"
#include "hotaru/autograd/creation_hooks.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/engine/engine.h"
#include "source/nodes.h"

namespace at {

namespace own = hotaru::autograd;

namespace {

own::Tensors unwrapped(TensorList list) {
  own::Tensors out;
  for (const Tensor& t : list) out.push_back(t.hotaru_tensor());
  return out;
}

own::BackwardOptions options_of(std::optional<bool> retain_graph,
                                bool create_graph) {
  own::BackwardOptions options;
  options.create_graph = create_graph;
  options.retain_graph = retain_graph.value_or(create_graph);
  return options;
}

/// A tensor that is looked at by reference.
const Tensor& as_tensor(const hotaru::Tensor& t) {
  static_assert(sizeof(Tensor) == sizeof(hotaru::Tensor));
  return reinterpret_cast<const Tensor&>(t);
}

}  // namespace

bool TensorBase::requires_grad() const {
  return own::requires_grad(tensor_);
}
bool TensorBase::is_leaf() const {
  return own::is_leaf(checked());
}
int64_t TensorBase::output_nr() const {
  const own::Meta* m = own::meta(checked());
  return m ? int64_t(m->output_index) : 0;
}
bool TensorBase::retains_grad() const {
  const own::Meta* m = own::meta(checked());
  return m && m->retains_grad;
}

void Tensor::backward(const Tensor& gradient, optional<bool> retain_graph,
                      bool create_graph, optional<TensorList> inputs) const {
  TORCH_CHECK(!inputs || !inputs->empty(),
              "'inputs' argument to backward cannot be empty");
  own::backward({checked()}, {gradient.hotaru_tensor()},
                inputs ? unwrapped(*inputs) : own::Tensors(),
                options_of(retain_graph, create_graph));
}

const Tensor& Tensor::set_requires_grad(bool on) const {
  TORCH_CHECK(!on || is_floating_point() || is_complex(),
              "Only Tensors of floating point and complex dtype can require "
              "gradients");
  own::set_requires_grad(checked(), on);
  return *this;
}
const Tensor& Tensor::grad() const {
  static const Tensor none;
  const own::Meta* m = own::meta(checked());
  const Tensor& grad = m ? as_tensor(m->grad) : none;
  if (m && m->grad_fn && !m->retains_grad && !grad.defined()) [[unlikely]]
    TORCH_WARN(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being "
        "accessed. Its .grad attribute won't be populated during "
        "autograd.backward(). If you indeed want the .grad field to be "
        "populated for a non-leaf Tensor, use .retain_grad() on the non-leaf "
        "Tensor. If you access the non-leaf Tensor by mistake, make sure you "
        "access the leaf Tensor instead. See "
        "github.com/pytorch/pytorch/pull/30531 for more informations.");
  return grad;
}
Tensor& Tensor::mutable_grad() const {
  return const_cast<Tensor&>(as_tensor(own::ensure_meta(checked()).grad));
}
void Tensor::retain_grad() const {
  own::retain_grad(checked());
}
std::shared_ptr<torch::autograd::Node> Tensor::grad_fn() const {
  return torch::autograd::node_of(own::grad_fn(checked()));
}
Tensor Tensor::data() const {
  hotaru::Tensor alias = hotaru::make_alias(checked());
  alias.impl()->tracks_version = false;
  return Tensor(std::move(alias));
}
void Tensor::set_data(const Tensor& other) const {
  own::set_data(checked(), other.checked());
}

namespace {

/// How hooks are taken away again, by the tensor and their number.
struct HookTable {
  std::mutex mutex;
  std::map<std::pair<const void*, unsigned>, own::RemoveHook> hooks;
  unsigned next = 0;
};
HookTable& hook_table() {
  static auto* table = new HookTable;
  return *table;
}

}  // namespace

unsigned Tensor::add_hook(std::function<Tensor(Tensor)> hook) const {
  TORCH_CHECK(requires_grad(),
              "cannot register a hook on a tensor that doesn't require "
              "gradient");
  auto remove = own::register_hook(
      checked(), [hook = std::move(hook)](const hotaru::Tensor& grad) {
        return hook(Tensor(grad)).hotaru_tensor();
      });
  HookTable& table = hook_table();
  const std::lock_guard lock(table.mutex);
  const unsigned number = table.next++;
  table.hooks[{tensor_.impl(), number}] = std::move(remove);
  return number;
}
void Tensor::remove_hook(unsigned number) const {
  HookTable& table = hook_table();
  const std::lock_guard lock(table.mutex);
  const auto at = table.hooks.find({checked().impl(), number});
  TORCH_CHECK(at != table.hooks.end(), "Invalid index, no hook at position ",
              number);
  at->second();
  table.hooks.erase(at);
}

}  // namespace at

namespace torch::autograd {

namespace own = hotaru::autograd;

namespace {

/// One gradient an output, undefined where none was given.
own::Tensors gradients(const variable_list& given, size_t outputs) {
  TORCH_CHECK(given.empty() || given.size() == outputs, "got ", outputs,
              " tensors and ", given.size(), " gradients");
  own::Tensors out = at::unwrapped(given);
  out.resize(outputs);
  return out;
}

}  // namespace

void backward(const variable_list& tensors, const variable_list& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph,
              const variable_list& inputs) {
  own::backward(at::unwrapped(tensors), gradients(grad_tensors, tensors.size()),
                at::unwrapped(inputs),
                at::options_of(retain_graph, create_graph));
}

variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs,
                   std::optional<bool> retain_graph, bool create_graph,
                   bool allow_unused) {
  TORCH_CHECK(!inputs.empty(), "grad requires non-empty inputs.");
  const own::Tensors found =
      own::grad(at::unwrapped(outputs), at::unwrapped(inputs),
                gradients(grad_outputs, outputs.size()),
                at::options_of(retain_graph, create_graph), allow_unused);
  return variable_list(found.begin(), found.end());
}

bool AnomalyMode::is_enabled() {
  return own::anomaly_enabled();
}
bool AnomalyMode::should_check_nan() {
  return own::anomaly_checks_nan();
}
void AnomalyMode::set_enabled(bool enabled, bool check_nan) {
  own::set_anomaly(enabled, check_nan);
}

/// The node of a Function's call.
class FunctionNode final : public own::SavingNode {
 public:
  FunctionNode(std::string name, FunctionCall::Backward backward,
               std::shared_ptr<AutogradContext> context)
      : SavingNode(std::move(name)),
        backward_(backward),
        context_(std::move(context)) {
    context_->node_ = this;
  }
  ~FunctionNode() override { context_->node_ = nullptr; }

  own::Tensors apply(own::Tensors grads) override {
    variable_list given;
    for (size_t i = 0; i < grads.size(); ++i)
      given.push_back(grads[i].defined() || !context_->materialize_grads_
                          ? at::Tensor(grads[i])
                          : zeros(outputs()[i]));
    return per_tensor(backward_(context_.get(), std::move(given)));
  }

 private:
  static at::Tensor zeros(const own::OutputInfo& like) {
    return at::zeros(at::IntArrayRef(like.sizes.data(), like.sizes.size()),
                     at::TensorOptions(c10::from_hotaru(like.dtype))
                         .device(c10::Device(like.device)));
  }

  /// The gradients of the tensors among forward's arguments, after checking
  /// all of them.
  own::Tensors per_tensor(variable_list result) const {
    const auto& is_tensor = context_->is_tensor_;
    while (result.size() > is_tensor.size() && !result.back().defined())
      result.pop_back();
    TORCH_CHECK(result.size() == is_tensor.size(), "function ", name(),
                " returned an incorrect number of gradients (expected ",
                is_tensor.size(), ", got ", result.size(), ")");
    own::Tensors out;
    for (size_t i = 0; i < result.size(); ++i) {
      if (is_tensor[i]) {
        out.push_back(result[i].hotaru_tensor());
        continue;
      }
      TORCH_CHECK(!result[i].defined(), "function ", name(),
                  " returned a gradient different than None at position ",
                  i + 1,
                  ", but the corresponding forward input was not a Variable");
    }
    return out;
  }

  FunctionCall::Backward backward_;
  std::shared_ptr<AutogradContext> context_;
};

variable_list AutogradContext::get_saved_variables() const {
  auto* node = static_cast<FunctionNode*>(node_);
  if (!node) return to_save_;
  node->check_kept();
  variable_list out;
  for (size_t i = 0; i < node->saved.size(); ++i)
    out.emplace_back(node->unpack(i));
  return out;
}

void AutogradContext::mark_dirty(const variable_list& inputs) {
  dirty_.insert(dirty_.end(), inputs.begin(), inputs.end());
}
void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  non_differentiable_.insert(non_differentiable_.end(), outputs.begin(),
                             outputs.end());
}
bool AutogradContext::needs_input_grad(size_t i) const {
  return i < needs_grad_.size() && needs_grad_[i];
}

void FunctionCall::argument(const at::Tensor& tensor) {
  context->is_tensor_.push_back(true);
  context->needs_grad_.push_back(tensor.defined() && tensor.requires_grad());
  inputs_.push_back(tensor);
}

namespace {

bool is_among(const variable_list& list, const at::Tensor& t) {
  return std::ranges::any_of(
      list, [&](const at::Tensor& other) { return other.is_same(t); });
}

}  // namespace

variable_list FunctionCall::record(variable_list outputs) {
  const bool wanted =
      at::GradMode::is_enabled() &&
      std::ranges::any_of(context->needs_grad_, [](bool b) { return b; });
  for (at::Tensor& t : outputs) {
    // An input that was given back, but not written, is another tensor.
    if (t.defined() && is_among(inputs_, t) && !is_among(context->dirty_, t))
      t = at::Tensor(hotaru::make_alias(t.hotaru_tensor()));
  }
  for (const at::Tensor& t : context->dirty_) {
    TORCH_CHECK(is_among(outputs, t),
                "Some elements marked as dirty during the forward method were "
                "not returned as output. The inputs that are modified inplace "
                "must all be outputs of the Function.");
    if (wanted) own::check_inplace(t.hotaru_tensor());
    // Nobody else tells of writes through addresses.
    t.hotaru_tensor().storage()->bump_version();
  }
  if (!wanted) return outputs;
  bool hidden = false;
  const auto node = hotaru::make_ref<FunctionNode>(
      "CppNode<" + c10::demangle(name_.c_str()) + ">", backward_, context);
  for (const at::Tensor& t : inputs_)
    node->add_edge(t.defined() ? own::gradient_edge(t.hotaru_tensor())
                               : own::Edge());
  for (const at::Tensor& t : outputs) {
    if (!t.defined()) {
      node->skip_output();
      continue;
    }
    const hotaru::Tensor& tensor = t.hotaru_tensor();
    const bool differentiable = t.is_floating_point() || t.is_complex();
    const auto slot = std::ranges::find_if(
        inputs_, [&](const at::Tensor& input) { return input.is_same(t); });
    if (!differentiable || is_among(context->non_differentiable_, t))
      node->add_output(tensor);
    else if (slot != inputs_.end() && own::writes_base(tensor))
      own::rebase_view(tensor, node, size_t(slot - inputs_.begin())),
          hidden = true;
    else
      own::set_history(tensor, node);
  }
  for (const at::Tensor& t : context->to_save_)
    node->saved.emplace_back(t.hotaru_tensor(), is_among(outputs, t),
                             t.defined() ? t._version() : 0);
  context->to_save_.clear();
  if (!hidden) own::tell_creation(node);
  return outputs;
}

}  // namespace torch::autograd
