// Adam (Kingma and Ba) and AdamW (Loshchilov and Hutter).
#pragma once

#include <tuple>

#include "torch/optim/optimizer.h"

namespace torch::optim {

/// Fields of both; AdamW starts with another weight decay.
template <class Derived>
struct AdamOptionsOf : OptimizerCloneableOptions<Derived> {
  using betas_t = std::tuple<double, double>;

  AdamOptionsOf(double lr, double weight_decay)
      : lr_(lr), weight_decay_(weight_decay) {}

  auto& lr(double v) { return lr_ = v, derived(); }
  auto& betas(betas_t v) { return betas_ = v, derived(); }
  auto& eps(double v) { return eps_ = v, derived(); }
  auto& weight_decay(double v) { return weight_decay_ = v, derived(); }
  auto& amsgrad(bool v) { return amsgrad_ = v, derived(); }
  double& lr() { return lr_; }
  betas_t& betas() { return betas_; }
  double& eps() { return eps_; }
  double& weight_decay() { return weight_decay_; }
  bool& amsgrad() { return amsgrad_; }
  const double& lr() const { return lr_; }
  const betas_t& betas() const { return betas_; }
  const double& eps() const { return eps_; }
  const double& weight_decay() const { return weight_decay_; }
  const bool& amsgrad() const { return amsgrad_; }

  static Derived initial() { return {}; }
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("lr", self.lr());
    f("betas", self.betas());
    f("eps", self.eps());
    f("weight_decay", self.weight_decay());
    f("amsgrad", self.amsgrad());
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  double lr_;
  betas_t betas_{0.9, 0.999};
  double eps_ = 1e-8, weight_decay_;
  bool amsgrad_ = false;
};

struct AdamOptions : AdamOptionsOf<AdamOptions> {
  AdamOptions(double lr = 1e-3) : AdamOptionsOf(lr, 0) {}
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableOptions<AdamOptions>;
struct AdamWOptions : AdamOptionsOf<AdamWOptions> {
  AdamWOptions(double lr = 1e-3) : AdamOptionsOf(lr, 1e-2) {}
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableOptions<AdamWOptions>;

struct AdamParamState : OptimizerCloneableParamState<AdamParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, exp_avg);
  TORCH_ARG(Tensor, exp_avg_sq);
  TORCH_ARG(Tensor, max_exp_avg_sq);

 public:
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("step", self.step());
    f("exp_avg", self.exp_avg());
    f("exp_avg_sq", self.exp_avg_sq());
    f("max_exp_avg_sq", self.max_exp_avg_sq());
  }
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableParamState<AdamParamState>;
using AdamWParamState = AdamParamState;

class Adam : public Optimizer {
 public:
  Adam(const std::vector<OptimizerParamGroup>& groups,
       AdamOptions defaults = {});
  Adam(std::vector<Tensor> params, AdamOptions defaults = {})
      : Adam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(
                 std::move(params))},
             std::move(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override {
    return std::make_unique<AdamParamState>();
  }
};

/// Weights decay by themselves, not through the gradient.
class AdamW : public Optimizer {
 public:
  AdamW(const std::vector<OptimizerParamGroup>& groups,
        AdamWOptions defaults = {});
  AdamW(std::vector<Tensor> params, AdamWOptions defaults = {})
      : AdamW(std::vector<OptimizerParamGroup>{OptimizerParamGroup(
                  std::move(params))},
              std::move(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override {
    return std::make_unique<AdamWParamState>();
  }
};

}  // namespace torch::optim
