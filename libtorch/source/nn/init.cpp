#include "torch/nn/init.h"

#include <cmath>

#include "c10/core/GradMode.h"

namespace torch::nn::init {

namespace {

double standard_deviation(const Tensor& tensor, double a, FanModeType mode,
                          NonlinearityType nonlinearity) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  const auto fan = is_chosen<enumtype::kFanIn>(mode) ? in : out;
  return calculate_gain(nonlinearity, a) / std::sqrt(double(fan));
}

}  // namespace

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(
    const Tensor& tensor) {
  const int64_t dimensions = tensor.dim();
  TORCH_CHECK(dimensions >= 2,
              "Fan in and fan out can not be computed for tensor with fewer "
              "than 2 dimensions");
  const int64_t window = dimensions > 2 ? tensor[0][0].numel() : int64_t{1};
  return {tensor.size(1) * window, tensor.size(0) * window};
}

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (is_chosen<enumtype::kTanh>(nonlinearity)) return 5.0 / 3.0;
  if (is_chosen<enumtype::kReLU>(nonlinearity)) return std::sqrt(2.0);
  if (is_chosen<enumtype::kLeakyReLU>(nonlinearity))
    return std::sqrt(2.0 / (1 + param * param));
  return 1;
}

Tensor constant_(Tensor tensor, Scalar value) {
  const NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor ones_(Tensor tensor) {
  return constant_(std::move(tensor), 1);
}
Tensor zeros_(Tensor tensor) {
  return constant_(std::move(tensor), 0);
}
Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}
Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

Tensor trunc_normal_(Tensor tensor, double mean, double std, double a,
                     double b) {
  const NoGradGuard no_grad;
  const auto below = [](double x) { return (1 + std::erf(x / M_SQRT2)) / 2; };
  const double low = below((a - mean) / std), high = below((b - mean) / std);
  return tensor.uniform_(2 * low - 1, 2 * high - 1)
      .erfinv_()
      .mul_(std * M_SQRT2)
      .add_(mean)
      .clamp_(a, b);
}

Tensor dirac_(Tensor tensor) {
  const NoGradGuard no_grad;
  TORCH_CHECK(tensor.dim() >= 3 && tensor.dim() <= 5,
              "Only tensors with 3, 4, or 5 dimensions are supported");
  tensor.zero_();
  const int64_t n = std::min(tensor.size(0), tensor.size(1));
  for (int64_t i = 0; i < n; ++i) {
    Tensor at = tensor[i][i];
    while (at.dim() > 0) at = at[at.size(0) / 2];
    at.fill_(1);
  }
  return tensor;
}

Tensor eye_(Tensor matrix) {
  const NoGradGuard no_grad;
  TORCH_CHECK(matrix.dim() == 2,
              "Only tensors with 2 dimensions are supported");
  return matrix.copy_(
      torch::eye(matrix.size(0), matrix.size(1), matrix.options()));
}

Tensor orthogonal_(Tensor tensor, double gain) {
  const NoGradGuard no_grad;
  TORCH_CHECK(tensor.dim() >= 2,
              "Only tensors with 2 or more dimensions are supported");
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor flat = torch::randn({rows, columns}, tensor.options());
  if (rows < columns) flat = flat.t();
  auto [q, r] = torch::linalg_qr(flat, "reduced");
  q = q * torch::diag(r).sign();
  if (rows < columns) q = q.t();
  tensor.view_as(q).copy_(q);
  return tensor.mul_(gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  const NoGradGuard no_grad;
  TORCH_CHECK(tensor.dim() == 2,
              "Only tensors with 2 dimensions are supported");
  const int64_t rows = tensor.size(0), columns = tensor.size(1);
  const auto zeros = int64_t(std::ceil(sparsity * double(rows)));
  tensor.normal_(0, std);
  for (int64_t column = 0; column < columns; ++column) {
    const Tensor chosen =
        torch::randperm(rows, tensor.options().dtype(kLong)).slice(0, 0, zeros);
    tensor.index_put_({chosen, column}, Scalar(0));
  }
  return tensor;
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode,
                        NonlinearityType nonlinearity) {
  const double bound =
      std::sqrt(3.0) * standard_deviation(tensor, a, mode, nonlinearity);
  return uniform_(std::move(tensor), -bound, bound);
}
Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode,
                       NonlinearityType nonlinearity) {
  const double std = standard_deviation(tensor, a, mode, nonlinearity);
  return normal_(std::move(tensor), 0, std);
}
Tensor xavier_normal_(Tensor tensor, double gain) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  return normal_(std::move(tensor), 0,
                 gain * std::sqrt(2.0 / double(in + out)));
}
Tensor xavier_uniform_(Tensor tensor, double gain) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  const double bound =
      std::sqrt(3.0) * gain * std::sqrt(2.0 / double(in + out));
  return uniform_(std::move(tensor), -bound, bound);
}

}  // namespace torch::nn::init
