// Adagrad (Duchi, Hazan and Singer).
#pragma once

#include "torch/optim/optimizer.h"

namespace torch::optim {

struct AdagradOptions : OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, lr_decay) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, initial_accumulator_value) = 0;
  TORCH_ARG(double, eps) = 1e-10;

 public:
  static AdagradOptions initial() { return {}; }
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("lr", self.lr());
    f("lr_decay", self.lr_decay());
    f("weight_decay", self.weight_decay());
    f("initial_accumulator_value", self.initial_accumulator_value());
    f("eps", self.eps());
  }
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableOptions<AdagradOptions>;

struct AdagradParamState : OptimizerCloneableParamState<AdagradParamState> {
  TORCH_ARG(Tensor, sum);
  TORCH_ARG(int64_t, step) = 0;

 public:
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("step", self.step());
    f("sum", self.sum());
  }
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableParamState<
    AdagradParamState>;

/// Gradients are divided by the root of the sum of their squares so far.
class Adagrad : public Optimizer {
 public:
  Adagrad(const std::vector<OptimizerParamGroup>& groups,
          AdagradOptions defaults = {});
  Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {})
      : Adagrad(std::vector<OptimizerParamGroup>{OptimizerParamGroup(
                    std::move(params))},
                std::move(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override {
    return std::make_unique<AdagradParamState>();
  }
};

}  // namespace torch::optim
