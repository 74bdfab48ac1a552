#include "torch/nn/modules/normalization.h"

#include <algorithm>

#include "source/nn/printed.h"
#include "torch/nn/functional/normalization.h"
#include "torch/nn/init.h"

namespace torch::nn {

template <class Derived, class Options>
void RunningNorm<Derived, Options>::reset() {
  const int64_t n = options.num_features();
  weight = this->register_parameter(
      "weight", options.affine() ? torch::empty({n}) : Tensor(),
      options.affine());
  bias = this->register_parameter(
      "bias", options.affine() ? torch::empty({n}) : Tensor(),
      options.affine());
  const bool tracks = options.track_running_stats();
  running_mean = this->register_buffer("running_mean",
                                       tracks ? torch::zeros({n}) : Tensor());
  running_var = this->register_buffer("running_var",
                                      tracks ? torch::ones({n}) : Tensor());
  num_batches_tracked = this->register_buffer(
      "num_batches_tracked", tracks ? torch::tensor(0, kLong) : Tensor());
  reset_parameters();
}
template <class Derived, class Options>
void RunningNorm<Derived, Options>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}
template <class Derived, class Options>
void RunningNorm<Derived, Options>::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

namespace {

/// 1d: (N, C) or (N, C, L); 2d: (N, C, H, W); 3d: (N, C, D, H, W).
template <size_t D>
void check_batch(const Tensor& input) {
  if constexpr (D == 1)
    TORCH_CHECK(input.dim() == 2 || input.dim() == 3,
                "expected 2D or 3D input (got ", input.dim(), "D input)");
  else
    TORCH_CHECK(input.dim() == D + 2, "expected ", D + 2, "D input (got ",
                input.dim(), "D input)");
}

std::ostream& number(std::ostream& out, const std::optional<double>& value) {
  return value ? out << *value : out << "None";
}

template <class Options>
void print_running(std::ostream& out, const char* kind, size_t dimensions,
                   const Options& options) {
  out << std::boolalpha << "torch::nn::" << kind << dimensions << "d("
      << options.num_features() << ", eps=" << options.eps() << ", momentum=";
  number(out, options.momentum())
      << ", affine=" << options.affine()
      << ", track_running_stats=" << options.track_running_stats() << ")";
}

}  // namespace

template <size_t D, class Derived>
void BatchNormImpl<D, Derived>::pretty_print(std::ostream& out) const {
  print_running(out, "BatchNorm", D, this->options);
}
template <size_t D, class Derived>
Tensor BatchNormImpl<D, Derived>::forward(const Tensor& input) {
  check_batch<D>(input);
  const auto& options = this->options;
  double factor = options.momentum().value_or(0.0);
  if (this->is_training() && options.track_running_stats()) {
    this->num_batches_tracked += 1;
    if (!options.momentum())
      factor = 1.0 / this->num_batches_tracked.template item<double>();
  }
  return torch::batch_norm(
      input, this->weight, this->bias, this->running_mean, this->running_var,
      this->is_training() || !options.track_running_stats(), factor,
      options.eps(), /*cudnn_enabled=*/true);
}

template <size_t D, class Derived>
void InstanceNormImpl<D, Derived>::pretty_print(std::ostream& out) const {
  print_running(out, "InstanceNorm", D, this->options);
}
template <size_t D, class Derived>
Tensor InstanceNormImpl<D, Derived>::forward(const Tensor& input) {
  const bool batched = input.dim() == D + 2;
  TORCH_CHECK(batched || input.dim() == D + 1, "expected ", D + 1, "D or ",
              D + 2, "D input (got ", input.dim(), "D input)");
  const auto& options = this->options;
  const Tensor out = torch::instance_norm(
      batched ? input : input.unsqueeze(0), this->weight, this->bias,
      this->running_mean, this->running_var,
      this->is_training() || !options.track_running_stats(), options.momentum(),
      options.eps(), /*cudnn_enabled=*/true);
  return batched ? out : out.squeeze(0);
}

#define HOTARU_TORCH_NORM(D) \
  template class RunningNorm<BatchNorm##D##dImpl, BatchNormOptions>; \
  template class RunningNorm<InstanceNorm##D##dImpl, InstanceNormOptions>; \
  template class BatchNormImpl<D, BatchNorm##D##dImpl>; \
  template class InstanceNormImpl<D, InstanceNorm##D##dImpl>;
HOTARU_TORCH_NORM(1)
HOTARU_TORCH_NORM(2)
HOTARU_TORCH_NORM(3)
#undef HOTARU_TORCH_NORM

LayerNormImpl::LayerNormImpl(LayerNormOptions given)
    : options(std::move(given)) {
  LayerNormImpl::reset();
}
void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  const auto made = [&] {
    return affine ? torch::empty(options.normalized_shape()) : Tensor();
  };
  weight = register_parameter("weight", made(), affine);
  bias = register_parameter("bias", made(), affine);
  reset_parameters();
}
void LayerNormImpl::reset_parameters() {
  if (!options.elementwise_affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void LayerNormImpl::pretty_print(std::ostream& out) const {
  out << std::boolalpha << "torch::nn::LayerNorm("
      << at::IntArrayRef(options.normalized_shape())
      << ", eps=" << options.eps()
      << ", elementwise_affine=" << options.elementwise_affine() << ")";
}
Tensor LayerNormImpl::forward(const Tensor& input) {
  return torch::layer_norm(input, options.normalized_shape(), weight, bias,
                           options.eps());
}

GroupNormImpl::GroupNormImpl(const GroupNormOptions& options)
    : options(options) {
  GroupNormImpl::reset();
}
void GroupNormImpl::reset() {
  const bool affine = options.affine();
  const auto made = [&] {
    return affine ? torch::empty(options.num_channels()) : Tensor();
  };
  weight = register_parameter("weight", made(), affine);
  bias = register_parameter("bias", made(), affine);
  reset_parameters();
}
void GroupNormImpl::reset_parameters() {
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void GroupNormImpl::pretty_print(std::ostream& out) const {
  out << std::boolalpha << "torch::nn::GroupNorm(" << options.num_groups()
      << ", " << options.num_channels() << ", eps=" << options.eps()
      << ", affine=" << options.affine() << ")";
}
Tensor GroupNormImpl::forward(const Tensor& input) {
  return torch::group_norm(input, options.num_groups(), weight, bias,
                           options.eps());
}

void LocalResponseNormImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::LocalResponseNorm(" << options.size()
      << ", alpha=" << options.alpha() << ", beta=" << options.beta()
      << ", k=" << options.k() << ")";
}
Tensor LocalResponseNormImpl::forward(const Tensor& input) {
  return functional::local_response_norm(input, options);
}

void CrossMapLRN2dImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::CrossMapLRN2d(" << options.size()
      << ", alpha=" << options.alpha() << ", beta=" << options.beta()
      << ", k=" << options.k() << ")";
}
// Sums of squares over neighbouring channels, from one channel to the next. As
// in PyTorch, the first channel stays in them once it is no neighbour.
Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  const int64_t channels = input.size(1);
  const int64_t reach = std::min((options.size() - 1) / 2 + 1, channels);
  const Tensor squares = input.mul(input);
  std::vector<Tensor> sums{squares.narrow(1, 0, reach).sum(1)};
  for (int64_t c = 1; c < channels; ++c) {
    Tensor sum = sums.back();
    if (c + reach <= channels) sum = sum + squares.select(1, c + reach - 1);
    if (c > reach) sum = sum - squares.select(1, c - reach);
    sums.push_back(sum);
  }
  const Tensor scale = torch::stack(sums, 1)
                           .mul(options.alpha() / double(options.size()))
                           .add(options.k());
  return input * scale.pow(-options.beta());
}

}  // namespace torch::nn
