// Normalisation over batches, instances, layers and groups.
#pragma once

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/normalization.h"

namespace torch::nn {

/// Common parts of norms with running means: weight and bias, undefined without
/// `affine`; means and variances, undefined unless they are tracked.
template <class Derived, class Options>
class RunningNorm : public Cloneable<Derived> {
 public:
  explicit RunningNorm(const Options& options) : options(options) {
    RunningNorm::reset();
  }
  void reset() override;
  void reset_running_stats();
  void reset_parameters();

  Options options;
  Tensor weight, bias;
  Tensor running_mean, running_var, num_batches_tracked;
};

/// Normalises each channel over the batch; in evaluation mode by the running
/// mean and variance.
template <size_t D, class Derived>
class BatchNormImpl : public RunningNorm<Derived, BatchNormOptions> {
 public:
  using RunningNorm<Derived, BatchNormOptions>::RunningNorm;
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);
};

/// Normalises each channel of each sample.
template <size_t D, class Derived>
class InstanceNormImpl : public RunningNorm<Derived, InstanceNormOptions> {
 public:
  using RunningNorm<Derived, InstanceNormOptions>::RunningNorm;
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);
};

#define HOTARU_TORCH_NORM(Kind, D) \
  class Kind##D##dImpl : public Kind##Impl<D, Kind##D##dImpl> { \
   public: \
    using Kind##Impl<D, Kind##D##dImpl>::Kind##Impl; \
    explicit Kind##D##dImpl(int64_t num_features) \
        : Kind##Impl<D, Kind##D##dImpl>(Kind##Options(num_features)) {} \
  }; \
  HOTARU_TORCH_MODULE(Kind##D##d)
HOTARU_TORCH_NORM(BatchNorm, 1);
HOTARU_TORCH_NORM(BatchNorm, 2);
HOTARU_TORCH_NORM(BatchNorm, 3);
HOTARU_TORCH_NORM(InstanceNorm, 1);
HOTARU_TORCH_NORM(InstanceNorm, 2);
HOTARU_TORCH_NORM(InstanceNorm, 3);
#undef HOTARU_TORCH_NORM

/// Normalises over the last dimensions.
class LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);

  LayerNormOptions options;
  Tensor weight, bias;
};
HOTARU_TORCH_MODULE(LayerNorm);

/// Normalises groups of channels.
class GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels)
      : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(const GroupNormOptions& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);

  GroupNormOptions options;
  Tensor weight, bias;
};
HOTARU_TORCH_MODULE(GroupNorm);

/// Divides by the squares of neighbouring channels.
class LocalResponseNormImpl
    : public WithOptions<LocalResponseNormImpl, LocalResponseNormOptions> {
 public:
  using WithOptions::WithOptions;
  explicit LocalResponseNormImpl(int64_t size)
      : WithOptions(LocalResponseNormOptions(size)) {}
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);
};
HOTARU_TORCH_MODULE(LocalResponseNorm);

/// The same of pictures (N, C, H, W).
class CrossMapLRN2dImpl
    : public WithOptions<CrossMapLRN2dImpl, CrossMapLRN2dOptions> {
 public:
  using WithOptions::WithOptions;
  explicit CrossMapLRN2dImpl(int64_t size)
      : WithOptions(CrossMapLRN2dOptions(size)) {}
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);
};
HOTARU_TORCH_MODULE(CrossMapLRN2d);

}  // namespace torch::nn
