// Normalisation as functions.
#include "torch/nn/functional/normalization.h"

namespace torch::nn::functional {

Tensor batch_norm(const Tensor& input, const Tensor& running_mean,
                  const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  if (options.training() && input.dim() >= 2) {
    int64_t values = input.size(0);
    for (int64_t d = 2; d < input.dim(); ++d) values *= input.size(d);
    TORCH_CHECK(values != 1,
                "Expected more than 1 value per channel when training, got "
                "input size ",
                input.sizes());
  }
  return torch::batch_norm(input, options.weight(), options.bias(),
                           running_mean, running_var, options.training(),
                           options.momentum().value_or(0.0), options.eps(),
                           /*cudnn_enabled=*/true);
}

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& o) {
  return torch::instance_norm(input, o.weight(), o.bias(), o.running_mean(),
                              o.running_var(), o.use_input_stats(),
                              o.momentum(), o.eps(), /*cudnn_enabled=*/true);
}

Tensor normalize(const Tensor& input, NormalizeFuncOptions options) {
  const Tensor length = input.norm(options.p(), options.dim(), /*keepdim=*/true)
                            .clamp_min(options.eps())
                            .expand_as(input);
  if (!options.out()) return input / length;
  return torch::div_out(*options.out(), input, length);
}

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return torch::layer_norm(input, options.normalized_shape(), options.weight(),
                           options.bias(), options.eps());
}

Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return torch::group_norm(input, options.num_groups(), options.weight(),
                           options.bias(), options.eps());
}

Tensor local_response_norm(const Tensor& input,
                           const LocalResponseNormFuncOptions& options) {
  TORCH_CHECK(input.dim() >= 3,
              "Expected 3D or higher dimensionality input (got ", input.dim(),
              " dimensions)");
  const int64_t size = options.size();
  const Tensor squares = input.mul(input).unsqueeze(1);
  const int64_t front = size / 2, back = (size - 1) / 2;
  // Means over neighbouring channels, as a pooling over them.
  const bool one = input.dim() == 3;
  const Tensor padded =
      one ? torch::constant_pad_nd(squares, {0, 0, front, back})
          : torch::constant_pad_nd(squares.flatten(3).unsqueeze(-1),
                                   {0, 0, 0, 0, front, back});
  const Tensor means = one ? torch::avg_pool2d(padded, {size, 1}, 1).squeeze(1)
                           : torch::avg_pool3d(padded, {size, 1, 1}, 1)
                                 .squeeze(1)
                                 .reshape(input.sizes());
  return input /
         means.mul(options.alpha()).add(options.k()).pow(options.beta());
}

}  // namespace torch::nn::functional
