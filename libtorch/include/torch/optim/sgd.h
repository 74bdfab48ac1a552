// Stochastic gradient descent with momentum.
#pragma once

#include "torch/optim/optimizer.h"

namespace torch::optim {

struct SGDOptions : OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(double, dampening) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, nesterov) = false;

 public:
  static SGDOptions initial() { return {1e-3}; }
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("lr", self.lr());
    f("momentum", self.momentum());
    f("dampening", self.dampening());
    f("weight_decay", self.weight_decay());
    f("nesterov", self.nesterov());
  }
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableOptions<SGDOptions>;

struct SGDParamState : OptimizerCloneableParamState<SGDParamState> {
  TORCH_ARG(Tensor, momentum_buffer);

 public:
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("momentum_buffer", self.momentum_buffer());
  }
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableParamState<SGDParamState>;

/// v = momentum v + grad; x -= lr v.
class SGD : public Optimizer {
 public:
  SGD(const std::vector<OptimizerParamGroup>& groups, SGDOptions defaults);
  SGD(std::vector<Tensor> params, SGDOptions defaults)
      : SGD(std::vector<OptimizerParamGroup>{OptimizerParamGroup(
                std::move(params))},
            std::move(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override {
    return std::make_unique<SGDParamState>();
  }
};

}  // namespace torch::optim
