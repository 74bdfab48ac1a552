#include "torch/optim/adam.h"

#include "torch/utils.h"

namespace torch::optim {

namespace {

template <class Options>
void check(const Options& options) {
  TORCH_CHECK(options.lr() >= 0, "Invalid learning rate: ", options.lr());
  TORCH_CHECK(options.eps() >= 0, "Invalid epsilon value: ", options.eps());
  const auto [first, second] = options.betas();
  TORCH_CHECK(0 <= first && first < 1.0,
              "Invalid beta parameter at index 0: ", first);
  TORCH_CHECK(0 <= second && second < 1.0,
              "Invalid beta parameter at index 1: ", second);
  TORCH_CHECK(options.weight_decay() >= 0,
              "Invalid weight_decay value: ", options.weight_decay());
}

/// Tensors that a step's kernel reads and writes, parameter by parameter.
struct Lists {
  std::vector<Tensor> averages, squares, largest, steps;
};

/// Counts the step, and makes what is not there.
void take(AdamParamState& state, const Tensor& param, bool amsgrad,
          Lists& lists) {
  if (!state.exp_avg().defined()) {
    state.exp_avg(torch::zeros_like(param));
    state.exp_avg_sq(torch::zeros_like(param));
  }
  if (amsgrad && !state.max_exp_avg_sq().defined())
    state.max_exp_avg_sq(torch::zeros_like(param));
  state.step(state.step() + 1);
  lists.averages.push_back(state.exp_avg());
  lists.squares.push_back(state.exp_avg_sq());
  if (amsgrad) lists.largest.push_back(state.max_exp_avg_sq());
  lists.steps.push_back(torch::scalar_tensor(double(state.step()), kFloat));
}

}  // namespace

Adam::Adam(const std::vector<OptimizerParamGroup>& groups, AdamOptions defaults)
    : Optimizer(groups, std::make_unique<AdamOptions>(defaults)) {
  check(defaults);
}
AdamW::AdamW(const std::vector<OptimizerParamGroup>& groups,
             AdamWOptions defaults)
    : Optimizer(groups, std::make_unique<AdamWOptions>(defaults)) {
  check(defaults);
}

// One kernel for all parameters of a group.
#define HOTARU_TORCH_ADAM(Name, kernel) \
  Tensor Name::step(LossClosure closure) { \
    const NoGradGuard no_grad; \
    Tensor loss = loss_of(closure); \
    for (const OptimizerParamGroup& group : param_groups()) { \
      const auto& options = \
          static_cast<const Name##Options&>(group.options()); \
      const Pairs pairs = with_gradients(group); \
      if (pairs.params.empty()) continue; \
      Lists lists; \
      for (const Tensor& param : pairs.params) \
        take(state_of<AdamParamState>(param), param, options.amsgrad(), \
             lists); \
      const auto [first, second] = options.betas(); \
      torch::kernel(pairs.params, pairs.grads, lists.averages, lists.squares, \
                    lists.largest, lists.steps, options.lr(), first, second, \
                    options.weight_decay(), options.eps(), options.amsgrad(), \
                    /*maximize=*/false); \
    } \
    return loss; \
  }
HOTARU_TORCH_ADAM(Adam, _fused_adam_)
HOTARU_TORCH_ADAM(AdamW, _fused_adamw_)
#undef HOTARU_TORCH_ADAM

}  // namespace torch::optim
