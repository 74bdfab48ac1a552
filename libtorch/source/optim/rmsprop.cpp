#include "torch/optim/rmsprop.h"

#include "torch/utils.h"

namespace torch::optim {

RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& groups,
                 RMSpropOptions defaults)
    : Optimizer(groups, std::make_unique<RMSpropOptions>(defaults)) {
  TORCH_CHECK(defaults.lr() >= 0, "Invalid learning rate: ", defaults.lr());
  TORCH_CHECK(defaults.eps() >= 0, "Invalid epsilon value: ", defaults.eps());
  TORCH_CHECK(defaults.momentum() >= 0,
              "Invalid momentum value: ", defaults.momentum());
  TORCH_CHECK(defaults.weight_decay() >= 0,
              "Invalid weight_decay value: ", defaults.weight_decay());
  TORCH_CHECK(defaults.alpha() >= 0, "Invalid alpha value: ", defaults.alpha());
}

namespace {

void prepare(RMSpropParamState& state, const Tensor& param,
             const RMSpropOptions& options) {
  const auto made = [&](Tensor& field) {
    if (!field.defined()) field = torch::zeros_like(param);
  };
  made(state.square_avg());
  if (options.momentum() > 0) made(state.momentum_buffer());
  if (options.centered()) made(state.grad_avg());
  state.step(state.step() + 1);
}

void update(RMSpropParamState& state, Tensor param, Tensor grad,
            const RMSpropOptions& o) {
  if (o.weight_decay() != 0) grad = grad.add(param, o.weight_decay());
  Tensor& squares = state.square_avg();
  squares.mul_(o.alpha()).addcmul_(grad, grad, 1 - o.alpha());
  Tensor root;
  if (o.centered()) {
    Tensor& mean = state.grad_avg();
    mean.lerp_(grad, 1 - o.alpha());
    root = squares.addcmul(mean, mean, -1).sqrt_().add_(o.eps());
  } else {
    root = squares.sqrt().add_(o.eps());
  }
  if (o.momentum() > 0) {
    Tensor& buffer = state.momentum_buffer();
    buffer.mul_(o.momentum()).addcdiv_(grad, root);
    param.add_(buffer, -o.lr());
  } else {
    param.addcdiv_(grad, root, -o.lr());
  }
}

}  // namespace

Tensor RMSprop::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = loss_of(closure);
  for (const OptimizerParamGroup& group : param_groups()) {
    const auto& options = static_cast<const RMSpropOptions&>(group.options());
    const Pairs pairs = with_gradients(group);
    for (size_t i = 0; i < pairs.params.size(); ++i) {
      TORCH_CHECK(!pairs.grads[i].is_sparse(),
                  "RMSprop does not support sparse gradients");
      auto& state = state_of<RMSpropParamState>(pairs.params[i]);
      prepare(state, pairs.params[i], options);
      update(state, pairs.params[i], pairs.grads[i], options);
    }
  }
  return loss;
}

}  // namespace torch::optim
