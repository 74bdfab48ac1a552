#include "torch/optim/sgd.h"

#include "torch/utils.h"

namespace torch::optim {

SGD::SGD(const std::vector<OptimizerParamGroup>& groups, SGDOptions defaults)
    : Optimizer(groups, std::make_unique<SGDOptions>(defaults)) {
  TORCH_CHECK(defaults.lr() >= 0, "Invalid learning rate: ", defaults.lr());
  TORCH_CHECK(defaults.momentum() >= 0,
              "Invalid momentum value: ", defaults.momentum());
  TORCH_CHECK(defaults.weight_decay() >= 0,
              "Invalid weight_decay value: ", defaults.weight_decay());
  TORCH_CHECK(!defaults.nesterov() ||
                  (defaults.momentum() > 0 && defaults.dampening() == 0),
              "Nesterov momentum requires a momentum and zero dampening");
}

Tensor SGD::step(LossClosure closure) {
  const NoGradGuard no_grad;
  Tensor loss = loss_of(closure);
  for (const OptimizerParamGroup& group : param_groups()) {
    const auto& options = static_cast<const SGDOptions&>(group.options());
    const Pairs pairs = with_gradients(group);
    // Parameters without a buffer yet get their gradient as the first one.
    Pairs first, later;
    std::vector<Tensor> first_buffers, buffers;
    for (size_t i = 0; i < pairs.params.size(); ++i) {
      bool is_first = false;
      Tensor buffer;
      if (options.momentum() != 0) {
        Tensor& kept =
            state_of<SGDParamState>(pairs.params[i]).momentum_buffer();
        is_first = !kept.defined();
        if (is_first) kept = torch::empty_like(pairs.params[i]);
        buffer = kept;
      }
      Pairs& to = is_first ? first : later;
      to.params.push_back(pairs.params[i]);
      to.grads.push_back(pairs.grads[i]);
      if (buffer.defined())
        (is_first ? first_buffers : buffers).push_back(buffer);
    }
    const auto run = [&](const Pairs& of, const std::vector<Tensor>& momenta,
                         bool is_first) {
      if (of.params.empty()) return;
      torch::_fused_sgd_(of.params, of.grads, momenta, options.weight_decay(),
                         options.momentum(), options.lr(), options.dampening(),
                         options.nesterov(), /*maximize=*/false, is_first);
    };
    run(first, first_buffers, true);
    run(later, buffers, false);
  }
  return loss;
}

}  // namespace torch::optim
