#include "hotaru/autograd/record.h"

#include <algorithm>

#include "hotaru/autograd/creation_hooks.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/inference/inference.h"

namespace hotaru::autograd {
namespace {

thread_local WriteListener write_listener = nullptr;

// Edges must be read before any output's history changes: an in-place
// operator's output is one of its inputs.
void add_edges(Node& node, std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs) {
    const bool wanted = input.defined() && is_differentiable(input.dtype());
    node.add_edge(wanted ? gradient_edge(input) : Edge{});
  }
}

/// Where t is among the tensors; their number if it is not.
size_t place(std::span<const Tensor> tensors, const Tensor& t) {
  size_t i = 0;
  while (i < tensors.size() && !tensors[i].is_same(t)) ++i;
  return i;
}

bool contains(std::span<const Tensor> tensors, const Tensor& t) {
  return place(tensors, t) < tensors.size();
}

/// Which input, or which output, each saved tensor was. One that was several
/// inputs is saved once for each, in their order.
std::vector<int16_t> places_of(std::span<const Save> saved,
                               std::span<const Tensor> inputs,
                               std::span<const Tensor> outputs) {
  std::vector<int16_t> places;
  places.reserve(saved.size());
  for (const Save& save : saved) {
    const auto among = save.output ? outputs : inputs;
    size_t found = place(among, *save.tensor);
    const auto taken = [&](size_t i) {
      return std::find(places.begin(), places.end(), int16_t(i)) !=
             places.end();
    };
    for (size_t i = found; !save.output && i < among.size(); ++i)
      if (among[i].is_same(*save.tensor) && !taken(i)) {
        found = i;
        break;
      }
    places.push_back(save.output ? int16_t(-1 - int(found)) : int16_t(found));
  }
  return places;
}

/// A result that is a view of a tensor that only its making knew is none any
/// more: writes to it are writes to a result, not to a leaf.
void forget_base(const Tensor& output, std::span<const Tensor> inputs) {
  if (!output.is_view()) return;
  for (const Tensor& input : inputs)
    if (input.defined() && input.storage() == output.storage()) return;
  leave_base(output);
}

Ref<RecordedNode> record_reverse(const char* name, const Tensors& outputs,
                                 std::span<const Tensor> inputs,
                                 std::span<const Save> saved, Formula formula) {
  check_creation(name);
  const auto node = make_ref<RecordedNode>(name, std::move(formula));
  add_edges(*node, inputs);
  // Inputs are saved with the history they have now, outputs with the new one.
  node->saved.resize(saved.size());
  node->places = places_of(saved, inputs, outputs);
  const auto save = [&](bool output) {
    for (size_t i = 0; i < saved.size(); ++i) {
      const Tensor& t = *saved[i].tensor;
      if (saved[i].output != output || !t.defined()) continue;
      const bool in_place = output && contains(inputs, t);
      // An in-place operator's old input is gone: keep the handle apart from
      // the one whose history changes, so that unpack finds it modified.
      const bool overwritten = !output && contains(outputs, t);
      Tensor kept = t;
      if (overwritten) {
        kept = make_alias(t);
        kept.impl()->autograd = copy_history(t);
      }
      node->saved[i] =
          SavedTensor(kept, output, t.version() + in_place, !overwritten);
    }
  };
  save(false);
  // A writer into a view hides behind its base's node.
  bool hidden = false;
  for (const Tensor& output : outputs) {
    if (!output.defined() || !is_differentiable(output.dtype())) continue;
    const size_t slot = place(inputs, output);
    if (slot < inputs.size() && writes_base(output)) {
      rebase_view(output, node, slot);
      hidden = true;
    } else {
      forget_base(output, inputs);
      set_history(output, node);
    }
  }
  save(true);
  if (!hidden) tell_creation(node);
  return node;
}

/// Passes tangents on, and records for gradients if any are wanted.
void record_dual(const char* name, const Tensors& outputs,
                 std::span<const Tensor> inputs, std::span<const Save> saved,
                 Formula formula) {
  Tensors read(saved.size());
  for (size_t i = 0; i < saved.size(); ++i) {
    const Tensor& t = *saved[i].tensor;
    const bool overwritten =
        t.defined() && !saved[i].output && contains(outputs, t);
    read[i] = overwritten ? take_original(t) : t;
  }
  const bool reverse =
      grad_enabled() && std::any_of(inputs.begin(), inputs.end(),
                                    [](auto& t) { return requires_grad(t); });
  Ref<RecordedNode> node;
  if (reverse)
    node = record_reverse(name, outputs, inputs, saved, formula);
  else
    for (const Tensor& output : outputs)
      if (output.defined() && !contains(inputs, output))
        forget_base(output, inputs);
  push_tangents(outputs, inputs, read, formula);
  // For tangents of the backward pass.
  for (size_t i = 0; node && i < saved.size(); ++i)
    if (saved[i].output && saved[i].tensor->defined())
      node->saved[i].carry(tangent(*saved[i].tensor));
}

void record_spans(const char* name, const Tensors& outputs,
                  std::span<const Tensor> inputs, std::span<const Save> saved,
                  Formula formula) {
  // Views of inference tensors are such tensors, without a history.
  if (outputs.size() == 1 && outputs[0].defined() && is_inference(outputs[0]))
    return;
  const bool dual = dual_level_open() &&
                    std::any_of(inputs.begin(), inputs.end(),
                                [](auto& t) { return passes_tangent(t); });
  if (dual)
    record_dual(name, outputs, inputs, saved, std::move(formula));
  else
    record_reverse(name, outputs, inputs, saved, std::move(formula));
}

}  // namespace

void record(const char* name, const Tensors& outputs,
            std::initializer_list<Tensor> inputs,
            std::initializer_list<Save> saved, Formula formula) {
  record_spans(name, outputs, {inputs.begin(), inputs.size()},
               {saved.begin(), saved.size()}, std::move(formula));
}

void record(const char* name, const Tensors& outputs, const Tensors& inputs,
            const std::vector<Save>& saved, Formula formula) {
  record_spans(name, outputs, inputs, saved, std::move(formula));
}

Tensor view_of(const Tensor& self, DType dtype, IntSpan sizes, IntSpan strides,
               int64_t offset) {
  Tensor view = make_view(self, sizes, strides, offset);
  view.impl()->dtype = dtype;
  ViewOrigin origin = view_origin(self);
  if (origin == ViewOrigin::kPlain && !grad_enabled())
    origin = inference_mode() ? ViewOrigin::kInference : ViewOrigin::kNoGrad;
  if (origin == ViewOrigin::kPlain) return view;
  if (requires_grad(self)) {
    Meta& m = ensure_meta(view);
    m.origin = origin;
    m.view_version = self.version();
  } else if (view.is_view()) {
    view.impl()->autograd = shared_meta(origin);
  }
  return view;
}

WriteListener set_write_listener(WriteListener listener) {
  return std::exchange(write_listener, listener);
}

void tell_write(const Tensor& self) {
  if (write_listener) write_listener(self);
}

void check_inplace(const Tensor& self) {
  HOTARU_CHECK(
      !is_inference(self) || inference_mode(),
      "Inplace update to inference tensor outside InferenceMode is not allowed."
      "You can make a clone to get a normal tensor before doing inplace update."
      "See https://github.com/pytorch/rfcs/pull/17 for more details.");
  tell_write(self);
  if (dual_level_open()) remember_original(self);
  if (!requires_grad(self) || !grad_enabled()) return;
  if (self.is_view()) check_origin(self, kModified);
  const Tensor root = self.is_view() ? Tensor(self.impl()->base) : self;
  HOTARU_CHECK(!is_leaf(root), self.is_view() ? "a view of " : "",
               "a leaf Variable that requires grad is being used in an "
               "in-place operation.");
}

void check_history_in_view(const Tensor& view) {
  if (writes_base(view)) check_origin(view, kModified);
}

bool Backward::needs(size_t i) const {
  return bool(node_.edges()[i].node);
}

const Edge& Backward::edge(size_t i) const {
  return node_.edges()[i];
}

Edge Backward::own_edge() const {
  return {Ref<Node>(&node_), 0};
}

const std::string& Backward::name() const {
  return node_.name();
}

Tensor Backward::saved(size_t i) const {
  return node_.unpack(i);
}

bool Backward::keeps_saved() const {
  return node_.keeps_saved();
}

Tensors RecordedNode::apply(Tensors grads) {
  if (!any_defined(grads)) return {};
  Backward backward(*this);
  return formula_(backward, grads);
}

}  // namespace hotaru::autograd
