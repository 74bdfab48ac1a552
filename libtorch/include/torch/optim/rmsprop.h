// RMSprop (Hinton).
#pragma once

#include "torch/optim/optimizer.h"

namespace torch::optim {

struct RMSpropOptions : OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, alpha) = 0.99;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(bool, centered) = false;

 public:
  static RMSpropOptions initial() { return {}; }
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("lr", self.lr());
    f("alpha", self.alpha());
    f("eps", self.eps());
    f("weight_decay", self.weight_decay());
    f("momentum", self.momentum());
    f("centered", self.centered());
  }
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableOptions<RMSpropOptions>;

struct RMSpropParamState : OptimizerCloneableParamState<RMSpropParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, square_avg);
  TORCH_ARG(Tensor, momentum_buffer);
  TORCH_ARG(Tensor, grad_avg);

 public:
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("step", self.step());
    f("square_avg", self.square_avg());
    f("momentum_buffer", self.momentum_buffer());
    f("grad_avg", self.grad_avg());
  }
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableParamState<
    RMSpropParamState>;

/// Gradients are divided by the root of their running mean square.
class RMSprop : public Optimizer {
 public:
  RMSprop(const std::vector<OptimizerParamGroup>& groups,
          RMSpropOptions defaults = {});
  RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {})
      : RMSprop(std::vector<OptimizerParamGroup>{OptimizerParamGroup(
                    std::move(params))},
                std::move(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override {
    return std::make_unique<RMSpropParamState>();
  }
};

}  // namespace torch::optim
