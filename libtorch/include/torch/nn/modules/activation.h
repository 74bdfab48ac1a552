// Activations as modules.
#pragma once

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/activation.h"

namespace torch::nn {

#define HOTARU_TORCH_ACTIVATION(Name) \
  class Name##Impl : public WithOptions<Name##Impl, Name##Options> { \
   public: \
    using WithOptions::WithOptions; \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(Tensor input); \
  }; \
  HOTARU_TORCH_MODULE(Name)
HOTARU_TORCH_ACTIVATION(ELU);
HOTARU_TORCH_ACTIVATION(SELU);
HOTARU_TORCH_ACTIVATION(CELU);
HOTARU_TORCH_ACTIVATION(Hardshrink);
HOTARU_TORCH_ACTIVATION(LeakyReLU);
HOTARU_TORCH_ACTIVATION(ReLU);
HOTARU_TORCH_ACTIVATION(ReLU6);
HOTARU_TORCH_ACTIVATION(RReLU);
HOTARU_TORCH_ACTIVATION(GLU);
HOTARU_TORCH_ACTIVATION(GELU);
HOTARU_TORCH_ACTIVATION(Softplus);
HOTARU_TORCH_ACTIVATION(Softshrink);
#undef HOTARU_TORCH_ACTIVATION

class HardtanhImpl : public WithOptions<HardtanhImpl, HardtanhOptions> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options = {});
  /// Throws unless min_val < max_val, as the constructor does.
  void reset() override;
  void pretty_print(std::ostream& out) const override;
  Tensor forward(Tensor input);
};
HOTARU_TORCH_MODULE(Hardtanh);

#define HOTARU_TORCH_ACTIVATION(Name) \
  class Name##Impl : public Cloneable<Name##Impl> { \
   public: \
    void reset() override {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(const Tensor& input); \
  }; \
  HOTARU_TORCH_MODULE(Name)
HOTARU_TORCH_ACTIVATION(LogSigmoid);
HOTARU_TORCH_ACTIVATION(SiLU);
HOTARU_TORCH_ACTIVATION(Mish);
HOTARU_TORCH_ACTIVATION(Sigmoid);
HOTARU_TORCH_ACTIVATION(Softsign);
HOTARU_TORCH_ACTIVATION(Tanh);
HOTARU_TORCH_ACTIVATION(Tanhshrink);
/// Over the channels of (N, C, H, W) or (C, H, W).
HOTARU_TORCH_ACTIVATION(Softmax2d);
#undef HOTARU_TORCH_ACTIVATION

#define HOTARU_TORCH_ACTIVATION(Name) \
  class Name##Impl : public WithOptions<Name##Impl, Name##Options> { \
   public: \
    using WithOptions::WithOptions; \
    explicit Name##Impl(int64_t dim) : WithOptions(Name##Options(dim)) {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(const Tensor& input); \
  }; \
  HOTARU_TORCH_MODULE(Name)
HOTARU_TORCH_ACTIVATION(Softmax);
HOTARU_TORCH_ACTIVATION(Softmin);
HOTARU_TORCH_ACTIVATION(LogSoftmax);
#undef HOTARU_TORCH_ACTIVATION

/// x where it is above the threshold, else the value.
class ThresholdImpl : public WithOptions<ThresholdImpl, ThresholdOptions> {
 public:
  using WithOptions::WithOptions;
  ThresholdImpl(double threshold, double value)
      : WithOptions(ThresholdOptions(threshold, value)) {}
  void pretty_print(std::ostream& out) const override;
  Tensor forward(Tensor input);
};
HOTARU_TORCH_MODULE(Threshold);

/// A learned slope for negative numbers, one or one a channel.
class PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options = {});
  void reset() override;
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);

  PReLUOptions options;
  Tensor weight;
};
HOTARU_TORCH_MODULE(PReLU);

}  // namespace torch::nn
