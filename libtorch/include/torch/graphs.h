// Captured graphs for C++ programs: an embedded model at the speed of a replay
// by one more line. Names of hotaru's own, as libtorch has graphs on CUDA
// alone.
#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include "hotaru/graph/graph.h"
#include "torch/jit.h"
#include "torch/nn/pimpl.h"
#include "torch/types.h"

namespace torch {

/// A function of tensors that was captured once and is replayed by each call.
/// Calls take inputs of the examples' shapes and dtypes, and give the same
/// tensors each time, whose values the next call overwrites. Weights may be
/// given new values between calls. Nothing is recorded for gradients. Copies
/// share the graph; from one thread at a time.
class GraphedCallable {
 public:
  using Tensors = std::vector<Tensor>;
  using Function = std::function<Tensors(const Tensors&)>;

  /// Runs f once and captures it then. Throws c10::Error for inputs that are
  /// not the CPU's, and naming what f asks of values, which a graph has not.
  GraphedCallable(const Function& f, const Tensors& examples);

  /// Throws c10::Error naming an input that does not fit.
  const Tensors& operator()(at::ArrayRef<Tensor> inputs);
  const Tensors& operator()(std::initializer_list<Tensor> inputs) {
    return (*this)(at::ArrayRef<Tensor>(inputs));
  }
  /// The first result.
  const Tensor& operator()(const Tensor& input) {
    return (*this)(at::ArrayRef<Tensor>(&input, 1)).front();
  }
  const hotaru::graph::Graph& hotaru_graph() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Graphs a module of TorchScript, whose result is a tensor or several.
GraphedCallable make_graphed(const jit::Module& module,
                             const std::vector<Tensor>& examples);
inline GraphedCallable make_graphed(const GraphedCallable::Function& f,
                                    const std::vector<Tensor>& examples) {
  return GraphedCallable(f, examples);
}
/// Graphs a module whose forward takes one tensor and gives one.
template <class M>
GraphedCallable make_graphed(const nn::ModuleHolder<M>& module,
                             const Tensor& example) {
  return GraphedCallable(
      [module = module.ptr()](const std::vector<Tensor>& inputs) {
        return std::vector<Tensor>{module->forward(inputs[0])};
      },
      {example});
}

}  // namespace torch
