#include "torch/optim/adagrad.h"

#include "torch/utils.h"

namespace torch::optim {

Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& groups,
                 AdagradOptions defaults)
    : Optimizer(groups, std::make_unique<AdagradOptions>(defaults)) {
  TORCH_CHECK(defaults.lr() >= 0, "Invalid learning rate: ", defaults.lr());
  TORCH_CHECK(defaults.lr_decay() >= 0,
              "Invalid lr_decay value: ", defaults.lr_decay());
  TORCH_CHECK(defaults.weight_decay() >= 0,
              "Invalid weight_decay value: ", defaults.weight_decay());
  TORCH_CHECK(defaults.initial_accumulator_value() >= 0,
              "Invalid initial_accumulator_value value: ",
              defaults.initial_accumulator_value());
  TORCH_CHECK(defaults.eps() >= 0, "Invalid epsilon value: ", defaults.eps());
  for (const OptimizerParamGroup& group : param_groups()) {
    const auto& options = static_cast<const AdagradOptions&>(group.options());
    for (const Tensor& param : group.params())
      state_of<AdagradParamState>(param).sum(
          torch::full_like(param.data(), options.initial_accumulator_value()));
  }
}

// One kernel for all parameters of a group.
Tensor Adagrad::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = loss_of(closure);
  for (const OptimizerParamGroup& group : param_groups()) {
    const auto& options = static_cast<const AdagradOptions&>(group.options());
    const Pairs pairs = with_gradients(group);
    if (pairs.params.empty()) continue;
    std::vector<Tensor> sums, steps;
    for (const Tensor& param : pairs.params) {
      auto& state = state_of<AdagradParamState>(param);
      if (!state.sum().defined())
        state.sum(torch::full_like(param, options.initial_accumulator_value()));
      state.step(state.step() + 1);
      sums.push_back(state.sum());
      steps.push_back(torch::scalar_tensor(double(state.step()), kFloat));
    }
    torch::_fused_adagrad_(pairs.params, pairs.grads, sums, steps, options.lr(),
                           options.lr_decay(), options.weight_decay(),
                           options.eps(),
                           /*maximize=*/false);
  }
  return loss;
}

}  // namespace torch::optim
