#include "torch/graphs.h"

#include "hotaru/runtime/streams/stream.h"

namespace torch {

namespace graph = hotaru::graph;

struct GraphedCallable::State {
  hotaru::Ref<graph::Graph> graph = hotaru::make_ref<graph::Graph>();
  Tensors inputs, outputs;
};

GraphedCallable::GraphedCallable(const Function& f, const Tensors& examples)
    : state_(std::make_shared<State>()) {
  const NoGradGuard no_grad;
  for (const Tensor& example : examples) {
    TORCH_CHECK(example.defined() && example.device().is_cpu(),
                "make_graphed takes tensors of the CPU as examples");
    state_->inputs.push_back(example.detach().clone());
  }
  f(state_->inputs);  // what is made at a first run is made now
  const hotaru::Stream stream = hotaru::Stream::queued();
  state_->graph->capture_begin(stream);
  {
    const hotaru::StreamGuard guard(stream);
    state_->outputs = f(state_->inputs);
  }
  std::vector<hotaru::Tensor> inputs;
  for (const Tensor& t : state_->inputs) inputs.push_back(t.hotaru_tensor());
  state_->graph->capture_end(inputs);
}

const GraphedCallable::Tensors& GraphedCallable::operator()(
    at::ArrayRef<Tensor> inputs) {
  const NoGradGuard no_grad;
  TORCH_CHECK(inputs.size() == state_->inputs.size(), "this graph takes ",
              state_->inputs.size(), " inputs, got ", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor& mine = state_->inputs[i];
    if (mine.is_same(inputs[i])) continue;
    TORCH_CHECK(inputs[i].sizes() == mine.sizes() &&
                    inputs[i].scalar_type() == mine.scalar_type(),
                "input ", i, " of this graph is of shape ", mine.sizes(),
                " and ", mine.scalar_type(), ", got ", inputs[i].sizes(),
                " and ", inputs[i].scalar_type());
    mine.copy_(inputs[i]);
  }
  state_->graph->replay();
  return state_->outputs;
}

const graph::Graph& GraphedCallable::hotaru_graph() const {
  return *state_->graph;
}

GraphedCallable make_graphed(const jit::Module& module,
                             const std::vector<Tensor>& examples) {
  return GraphedCallable(
      [module](const std::vector<Tensor>& inputs) {
        const c10::IValue result =
            module.forward(jit::Stack(inputs.begin(), inputs.end()));
        if (result.isTensor()) return std::vector<Tensor>{result.toTensor()};
        TORCH_CHECK(result.isTuple() || result.isList(),
                    "make_graphed takes modules that give a tensor, or a tuple "
                    "or list of tensors");
        return result.to<std::vector<Tensor>>();
      },
      examples);
}

}  // namespace torch
