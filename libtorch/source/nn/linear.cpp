#include "torch/nn/modules/linear.h"

#include <cmath>

#include "torch/nn/init.h"

namespace torch::nn {

void IdentityImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::Identity()";
}

LinearImpl::LinearImpl(const LinearOptions& options) : options(options) {
  LinearImpl::reset();
}
void LinearImpl::reset() {
  weight = register_parameter(
      "weight", torch::empty({options.out_features(), options.in_features()}));
  bias = register_parameter(
      "bias", options.bias() ? torch::empty(options.out_features()) : Tensor(),
      options.bias());
  reset_parameters();
}
void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5));
  if (!bias.defined()) return;
  const double bound = 1 / std::sqrt(double(options.in_features()));
  init::uniform_(bias, -bound, bound);
}
void LinearImpl::pretty_print(std::ostream& out) const {
  out << std::boolalpha
      << "torch::nn::Linear(in_features=" << options.in_features()
      << ", out_features=" << options.out_features()
      << ", bias=" << options.bias() << ")";
}
Tensor LinearImpl::forward(const Tensor& input) {
  return torch::linear(input, weight, bias);
}

void FlattenImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::Flatten(start_dim=" << options.start_dim()
      << ", end_dim=" << options.end_dim() << ")";
}
Tensor FlattenImpl::forward(const Tensor& input) {
  return input.flatten(options.start_dim(), options.end_dim());
}

void UnflattenImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::Unflatten(dim=" << options.dim() << ", unflattened_size={"
      << c10::Join(", ", options.sizes()) << "})";
}
Tensor UnflattenImpl::forward(const Tensor& input) {
  return input.unflatten(options.dim(), options.sizes());
}

BilinearImpl::BilinearImpl(const BilinearOptions& options) : options(options) {
  BilinearImpl::reset();
}
void BilinearImpl::reset() {
  weight = register_parameter(
      "weight", torch::empty({options.out_features(), options.in1_features(),
                              options.in2_features()}));
  bias = register_parameter(
      "bias", options.bias() ? torch::empty(options.out_features()) : Tensor(),
      options.bias());
  reset_parameters();
}
void BilinearImpl::reset_parameters() {
  const double bound = 1.0 / std::sqrt(double(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}
void BilinearImpl::pretty_print(std::ostream& out) const {
  out << std::boolalpha
      << "torch::nn::Bilinear(in1_features=" << options.in1_features()
      << ", in2_features=" << options.in2_features()
      << ", out_features=" << options.out_features()
      << ", bias=" << options.bias() << ")";
}
Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return torch::bilinear(input1, input2, weight, bias);
}

}  // namespace torch::nn
