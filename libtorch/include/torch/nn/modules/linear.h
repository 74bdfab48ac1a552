// Affine maps, and modules that only change shapes.
#pragma once

#include "torch/nn/cloneable.h"
#include "torch/nn/options/linear.h"

namespace torch::nn {

/// Gives back what it is given, whatever it was made with.
class IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input) { return input; }
};
HOTARU_TORCH_MODULE(Identity);

/// x W^T + b over the last dimension.
class LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);

  LinearOptions options;
  Tensor weight;  // (out_features, in_features)
  Tensor bias;    // undefined without
};
HOTARU_TORCH_MODULE(Linear);

/// Dimensions start_dim to end_dim as one.
class FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(const FlattenOptions& options = {}) : options(options) {}
  void reset() override {}
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);

  FlattenOptions options;
};
HOTARU_TORCH_MODULE(Flatten);

/// One dimension as several.
class UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  explicit UnflattenImpl(UnflattenOptions options)
      : options(std::move(options)) {}
  void reset() override {}
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);

  UnflattenOptions options;
};
HOTARU_TORCH_MODULE(Unflatten);

/// x1^T A x2 + b.
class BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : BilinearImpl(
            BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(const BilinearOptions& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  BilinearOptions options;
  Tensor weight;  // (out_features, in1_features, in2_features)
  Tensor bias;
};
HOTARU_TORCH_MODULE(Bilinear);

}  // namespace torch::nn
