#include "bindings/graph/graph_backward.h"

#include "hotaru/autograd/creation_hooks.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/saved_tensor.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::python {
namespace {

using autograd::Node;
using autograd::Tensors;

/// Where the gradients of a graphed function would be differentiated.
class TwiceNode final : public Node {
 public:
  TwiceNode() : Node("TwiceDifferentiatedBackward") {}
  Tensors apply(Tensors grads) override {
    if (!autograd::any_defined(grads)) return {};
    fail(
        "trying to differentiate twice a function that was marked with "
        "@once_differentiable");
  }
};

class GraphedNode final : public Node {
 public:
  GraphedNode(Ref<GraphBackward> backward, std::span<const Tensor> read)
      : Node("GraphedBackward"),
        backward_(std::move(backward)),
        call_(backward_->call.load()) {
    backward_->awaited.store(call_);
    saved_.reserve(backward_->saved.size() + read.size());
    for (const Guarded& g : backward_->saved) save(g.tensor, false);
    for (const Tensor& t : read) save(t, false);
  }
  ~GraphedNode() override { release_saved(); }

  Tensors apply(Tensors grads) override {
    if (!autograd::any_defined(grads)) return {};
    HOTARU_CHECK(!released_,
                 "Trying to backward through the graph a second time (or "
                 "directly access saved tensors after they have already been "
                 "freed). Saved intermediate values of the graph are freed "
                 "when you call .backward() or autograd.grad(). Specify "
                 "retain_graph=True if you need to backward through the graph "
                 "a second time or if you need to access saved tensors after "
                 "calling backward.");
    HOTARU_CHECK(call_ == backward_->call.load(),
                 "the graphed callable ran again before the backward of an "
                 "earlier call, whose intermediate values it has overwritten");
    for (const Guarded& g : backward_->saved)
      HOTARU_CHECK(
          g.in_place(), "a tensor of shape ", shape_text(g.sizes),
          " whose values the backward of a graphed callable needs was "
          "given other memory or another shape since the forward; call "
          "the callable again");
    for (const autograd::SavedTensor& saved : saved_) saved.unpack(this);
    Tensors out = replay(grads);
    if (autograd::grad_enabled()) refuse_second(grads, out);
    return out;
  }

  void release_saved() override {
    released_ = true;
    uint64_t mine = call_;
    backward_->awaited.compare_exchange_strong(mine, 0);
  }

  /// Has the backward refuse if somebody writes to a tensor, maybe a result.
  void save(const Tensor& t, bool result) {
    saved_.emplace_back(t, result, t.version(), false);
  }

 private:
  Tensors replay(const Tensors& grads) const {
    const autograd::NoGrad no_grad;
    for (size_t i = 0; i < grads.size(); ++i) {
      const Tensor& to = backward_->incoming[i];
      if (!to.defined()) continue;
      if (!grads[i].defined())
        fill_(to, 0.0);
      else if (grads[i].storage() != to.storage())
        copy_(to, grads[i]);
    }
    backward_->graph->replay();
    // Nobody takes the memory of a view for their own.
    Tensors out;
    out.reserve(backward_->outgoing.size());
    for (size_t i = 0; i < backward_->outgoing.size(); ++i) {
      const Tensor& t = backward_->outgoing[i];
      out.push_back(!t.defined() || !flows_to(i, grads) ? Tensor()
                    : backward_->fresh                  ? clone(t)
                                                        : detach(t));
    }
    return out;
  }

  /// True if there is a gradient of a result that depends on a tensor.
  bool flows_to(size_t outgoing, const Tensors& grads) const {
    if (backward_->sources.empty()) return true;
    for (size_t result : backward_->sources[outgoing])
      if (grads[result].defined()) return true;
    return false;
  }

  /// Gives gradients a history that ends in an error, as they depend on what
  /// the function was called with.
  void refuse_second(const Tensors& grads, Tensors& out) {
    const Ref<Node> node = make_ref<TwiceNode>();
    for (const Tensor& grad : grads)
      if (grad.defined() && autograd::requires_grad(grad))
        node->add_edge(autograd::gradient_edge(grad));
    for (const autograd::Edge& edge : edges()) node->add_edge(edge);
    for (const Tensor& t : out)
      if (t.defined()) autograd::set_history(t, node);
  }

  const Ref<GraphBackward> backward_;
  const uint64_t call_;
  std::vector<autograd::SavedTensor> saved_;
  bool released_ = false;
};

}  // namespace

void record_call(const Ref<GraphBackward>& backward,
                 std::span<const Tensor> arguments,
                 std::span<const Tensor> read,
                 std::span<const Tensor> results) {
  const auto node = make_ref<GraphedNode>(backward, read);
  for (const auto& tensors :
       {arguments, std::span<const Tensor>(backward->parameters)})
    for (const Tensor& t : tensors) node->add_edge(autograd::gradient_edge(t));
  for (size_t i = 0; i < results.size(); ++i) {
    if (backward->incoming[i].defined())
      autograd::set_history(results[i], node);
    else
      node->add_output(results[i]);
    if (backward->read_results[i]) node->save(results[i], true);
  }
  autograd::tell_creation(node);
}

}  // namespace hotaru::python
