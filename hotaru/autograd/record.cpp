#include "hotaru/autograd/record.h"

#include "hotaru/autograd/leaf.h"

namespace hotaru::autograd {
namespace {

// Edges must be read before any output's history changes: an in-place
// operator's output is one of its inputs.
void add_edges(Node& node, std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs) {
    const bool wanted = input.defined() && is_differentiable(input.dtype());
    node.add_edge(wanted ? gradient_edge(input) : Edge{});
  }
}

bool contains(std::span<const Tensor> tensors, const Tensor& t) {
  for (const Tensor& other : tensors)
    if (other.defined() && other.is_same(t)) return true;
  return false;
}

void record_spans(const char* name, const Tensors& outputs,
                  std::span<const Tensor> inputs, std::span<const Save> saved,
                  Formula formula) {
  const auto node = make_ref<RecordedNode>(name, std::move(formula));
  add_edges(*node, inputs);
  // Inputs are saved with the history they have now, outputs with the new one.
  node->saved.resize(saved.size());
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
      node->saved[i] = SavedTensor(kept, output, t.version() + in_place);
    }
  };
  save(false);
  for (const Tensor& output : outputs) {
    if (!output.defined() || !is_differentiable(output.dtype())) continue;
    if (contains(inputs, output) && output.is_view())
      rebase_view(output, node);
    else
      set_history(output, node);
  }
  save(true);
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

void check_inplace(const Tensor& self) {
  if (!grad_enabled()) return;
  const bool view = self.is_view();
  if (const Meta* m = meta(self); m && m->one_of_many)
    fail_one_of_many(self, " is a view and is being modified inplace. ");
  const Tensor root = view ? Tensor(self.impl()->base) : self;
  if (!requires_grad(root) || !is_leaf(root)) return;
  HOTARU_CHECK(!view,
               "a view of a leaf Variable that requires grad is being used in "
               "an in-place operation.");
  fail(
      "a leaf Variable that requires grad is being used in an in-place "
      "operation.");
}

bool Backward::needs(size_t i) const {
  return bool(node_.edges()[i].node);
}

Tensor Backward::saved(size_t i) const {
  HOTARU_CHECK(
      !node_.released,
      "Trying to backward through the graph a second time (or directly "
      "access saved tensors after they have already been freed). Saved "
      "intermediate values of the graph are freed when you call "
      ".backward() or autograd.grad(). Specify retain_graph=True if "
      "you need to backward through the graph a second time or if you "
      "need to access saved tensors after calling backward.");
  return node_.saved[i].unpack(&node_);
}

Tensors RecordedNode::apply(Tensors grads) {
  Backward backward(*this);
  return formula_(backward, grads);
}

void RecordedNode::release_saved() {
  released = true;
  saved.clear();
}

}  // namespace hotaru::autograd
