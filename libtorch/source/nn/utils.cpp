#include "torch/nn/utils.h"

#include <cmath>
#include <limits>

#include "torch/utils.h"

namespace torch::nn::utils {

namespace {

std::vector<Tensor> gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> out;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) out.push_back(parameter.grad());
  return out;
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                       double norm_type, bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  const std::vector<Tensor> grads = gradients(parameters);
  if (grads.empty()) return 0;
  std::vector<Tensor> norms;
  for (const Tensor& grad : grads)
    norms.push_back(norm_type == std::numeric_limits<double>::infinity()
                        ? grad.abs().max()
                        : grad.norm(norm_type));
  const Tensor all = torch::stack(norms);
  // Order 0 stands for how many gradients there are, as in PyTorch.
  const Tensor norm = norm_type == 0 ? torch::full({}, double(norms.size()))
                      : norms.size() == 1 ? norms[0]
                      : norm_type == std::numeric_limits<double>::infinity()
                          ? all.max()
                          : all.norm(norm_type);
  const double total = norm.item<double>();
  TORCH_CHECK(!error_if_nonfinite || std::isfinite(total),
              "The total norm of order ", norm_type,
              " for gradients from "
              "`parameters` is non-finite, so it cannot be clipped. To disable "
              "this error and scale the gradients with the non-finite norm "
              "anyway, set `error_if_nonfinite=false`");
  // In the tensors' precision, as PyTorch rounds.
  const Tensor scale = (max_norm / (norm + 1e-6)).clamp(std::nullopt, 1.0);
  for (Tensor grad : grads) grad.mul_(scale);
  return total;
}
double clip_grad_norm_(const Tensor& parameter, double max_norm,
                       double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>{parameter}, max_norm, norm_type,
                         error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Tensor>& parameters,
                      double clip_value) {
  const NoGradGuard no_grad;
  for (Tensor grad : gradients(parameters))
    grad.clamp_(-clip_value, clip_value);
}
void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{parameter}, clip_value);
}

namespace {

void check_devices(const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters)
    TORCH_CHECK(parameter.device() == parameters[0].device(),
                "Found two parameters on different devices, this is currently "
                "not supported.");
}

}  // namespace

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  check_devices(parameters);
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.view(-1));
  return torch::cat(flat);
}

void vector_to_parameters(const Tensor& vector,
                          const std::vector<Tensor>& parameters) {
  check_devices(parameters);
  int64_t start = 0;
  for (Tensor parameter : parameters) {
    const int64_t n = parameter.numel();
    parameter.set_data(vector.narrow(0, start, n).view_as(parameter).data());
    start += n;
  }
}

}  // namespace torch::nn::utils
