#include "torch/nn/modules/activation.h"

#include "source/nn/printed.h"
#include "torch/nn/functional/activation.h"

namespace torch::nn {

namespace functional {

Tensor elu(Tensor input, const ELUFuncOptions& options) {
  return options.inplace() ? torch::elu_(input, options.alpha())
                           : torch::elu(input, options.alpha());
}
Tensor selu(Tensor input, const SELUFuncOptions& options) {
  return options.inplace() ? torch::selu_(input) : torch::selu(input);
}
Tensor celu(Tensor input, const CELUFuncOptions& options) {
  return options.inplace() ? torch::celu_(input, options.alpha())
                           : torch::celu(input, options.alpha());
}
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return torch::hardshrink(input, options.lambda());
}
Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options) {
  const double low = options.min_val(), high = options.max_val();
  return options.inplace() ? torch::hardtanh_(input, low, high)
                           : torch::hardtanh(input, low, high);
}
Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options) {
  const double slope = options.negative_slope();
  return options.inplace() ? torch::leaky_relu_(input, slope)
                           : torch::leaky_relu(input, slope);
}
Tensor logsigmoid(const Tensor& input) {
  return torch::log_sigmoid(input);
}
Tensor gumbel_softmax(const Tensor& logits,
                      const GumbelSoftmaxFuncOptions& options) {
  const int64_t dim = options.dim();
  const Tensor noise = -torch::empty_like(logits).exponential_().log();
  const Tensor soft = ((logits + noise) / options.tau()).softmax(dim);
  if (!options.hard()) return soft;
  const Tensor index = std::get<1>(soft.max(dim, /*keepdim=*/true));
  const Tensor hard =
      torch::zeros_like(logits).scatter_(dim, index, Scalar(1.0));
  return hard - soft.detach() + soft;
}
Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return torch::softmax(input, options.dim(), options.dtype());
}
Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return torch::softmax(-input, options.dim(), options.dtype());
}
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return torch::log_softmax(input, options.dim(), options.dtype());
}
Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  return torch::glu(input, options.dim());
}
Tensor gelu(const Tensor& input, const GELUFuncOptions& options) {
  return torch::gelu(input, options.approximate());
}
Tensor silu(const Tensor& input) {
  return torch::silu(input);
}
Tensor mish(const Tensor& input) {
  return torch::mish(input);
}
Tensor relu(Tensor input, const ReLUFuncOptions& options) {
  return options.inplace() ? torch::relu_(input) : torch::relu(input);
}
Tensor relu6(Tensor input, const ReLU6FuncOptions& options) {
  return options.inplace() ? torch::relu6_(input) : torch::relu6(input);
}
Tensor rrelu(Tensor input, const RReLUFuncOptions& options) {
  const double lower = options.lower(), upper = options.upper();
  if (!options.inplace())
    return torch::rrelu(input, lower, upper, options.training());
  // Values that the gradient needs are a copy's.
  return input.copy_(
      torch::rrelu(input.clone(), lower, upper, options.training()));
}
Tensor prelu(const Tensor& input, const Tensor& weight) {
  return torch::prelu(input, weight);
}
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return torch::softplus(input, options.beta(), options.threshold());
}
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return torch::softshrink(input, options.lambda());
}
Tensor softsign(const Tensor& input) {
  return input / (input.abs() + 1);
}
Tensor tanhshrink(const Tensor& input) {
  return input - input.tanh();
}
Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  const double least = options.threshold(), value = options.value();
  return options.inplace() ? torch::threshold_(input, least, value)
                           : torch::threshold(input, least, value);
}

}  // namespace functional

namespace F = functional;

Tensor ELUImpl::forward(Tensor input) {
  return F::elu(std::move(input), options);
}
void ELUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "ELU").with("alpha", options.alpha()).inplace(options.inplace());
}
Tensor SELUImpl::forward(Tensor input) {
  return F::selu(std::move(input), options);
}
void SELUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "SELU").inplace(options.inplace());
}
Tensor CELUImpl::forward(Tensor input) {
  return F::celu(std::move(input), options);
}
void CELUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "CELU")
      .with("alpha", options.alpha())
      .inplace(options.inplace());
}
Tensor HardshrinkImpl::forward(Tensor input) {
  return F::hardshrink(input, options);
}
void HardshrinkImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Hardshrink").only(options.lambda());
}
HardtanhImpl::HardtanhImpl(const HardtanhOptions& options)
    : WithOptions(options) {
  HardtanhImpl::reset();
}
void HardtanhImpl::reset() {
  TORCH_CHECK(options.min_val() < options.max_val(),
              "max_val must be greater than min_val");
}
Tensor HardtanhImpl::forward(Tensor input) {
  return F::hardtanh(std::move(input), options);
}
void HardtanhImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Hardtanh")
      .with("min_val", options.min_val())
      .with("max_val", options.max_val())
      .inplace(options.inplace());
}
Tensor LeakyReLUImpl::forward(Tensor input) {
  return F::leaky_relu(std::move(input), options);
}
void LeakyReLUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "LeakyReLU")
      .with("negative_slope", options.negative_slope())
      .inplace(options.inplace());
}
Tensor ReLUImpl::forward(Tensor input) {
  return F::relu(std::move(input), options);
}
void ReLUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "ReLU").inplace(options.inplace());
}
Tensor ReLU6Impl::forward(Tensor input) {
  return F::relu6(std::move(input), options);
}
void ReLU6Impl::pretty_print(std::ostream& out) const {
  Printed(out, "ReLU6").inplace(options.inplace());
}
Tensor RReLUImpl::forward(Tensor input) {
  return F::rrelu(std::move(input), F::RReLUFuncOptions()
                                        .lower(options.lower())
                                        .upper(options.upper())
                                        .training(is_training())
                                        .inplace(options.inplace()));
}
void RReLUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "RReLU")
      .with("lower", options.lower())
      .with("upper", options.upper())
      .inplace(options.inplace());
}
Tensor GLUImpl::forward(Tensor input) {
  return F::glu(input, options);
}
void GLUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "GLU").with("dim", options.dim());
}
Tensor GELUImpl::forward(Tensor input) {
  return F::gelu(input, options);
}
void GELUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "GELU");
}
Tensor SoftplusImpl::forward(Tensor input) {
  return F::softplus(input, options);
}
void SoftplusImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Softplus")
      .with("beta", options.beta())
      .with("threshold", options.threshold());
}
Tensor SoftshrinkImpl::forward(Tensor input) {
  return F::softshrink(input, options);
}
void SoftshrinkImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Softshrink").only(options.lambda());
}
Tensor ThresholdImpl::forward(Tensor input) {
  return F::threshold(std::move(input), options);
}
void ThresholdImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Threshold")
      .with("threshold", options.threshold())
      .with("value", options.value())
      .inplace(options.inplace());
}

Tensor LogSigmoidImpl::forward(const Tensor& input) {
  return F::logsigmoid(input);
}
void LogSigmoidImpl::pretty_print(std::ostream& out) const {
  Printed(out, "LogSigmoid");
}
Tensor SiLUImpl::forward(const Tensor& input) {
  return F::silu(input);
}
void SiLUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "SiLU");
}
Tensor MishImpl::forward(const Tensor& input) {
  return F::mish(input);
}
void MishImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Mish");
}
Tensor SigmoidImpl::forward(const Tensor& input) {
  return torch::sigmoid(input);
}
void SigmoidImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Sigmoid");
}
Tensor SoftsignImpl::forward(const Tensor& input) {
  return F::softsign(input);
}
void SoftsignImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Softsign");
}
Tensor TanhImpl::forward(const Tensor& input) {
  return torch::tanh(input);
}
void TanhImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Tanh");
}
Tensor TanhshrinkImpl::forward(const Tensor& input) {
  return F::tanhshrink(input);
}
void TanhshrinkImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Tanhshrink");
}
Tensor Softmax2dImpl::forward(const Tensor& input) {
  TORCH_CHECK(input.dim() == 4 || input.dim() == 3,
              "Softmax2d requires a 3D or 4D tensor as input");
  return torch::softmax(input, -3);
}
void Softmax2dImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Softmax2d");
}

Tensor SoftmaxImpl::forward(const Tensor& input) {
  return torch::softmax(input, options.dim());
}
void SoftmaxImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Softmax").with("dim", options.dim());
}
Tensor SoftminImpl::forward(const Tensor& input) {
  return torch::softmax(-input, options.dim());
}
void SoftminImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Softmin").with("dim", options.dim());
}
Tensor LogSoftmaxImpl::forward(const Tensor& input) {
  return torch::log_softmax(input, options.dim());
}
void LogSoftmaxImpl::pretty_print(std::ostream& out) const {
  Printed(out, "LogSoftmax").with("dim", options.dim());
}

PReLUImpl::PReLUImpl(const PReLUOptions& options) : options(options) {
  PReLUImpl::reset();
}
void PReLUImpl::reset() {
  weight = register_parameter(
      "weight", torch::full({options.num_parameters()}, options.init()));
}
Tensor PReLUImpl::forward(const Tensor& input) {
  return torch::prelu(input, weight);
}
void PReLUImpl::pretty_print(std::ostream& out) const {
  Printed(out, "PReLU").with("num_parameters", options.num_parameters());
}

}  // namespace torch::nn
