// Transforms of an example's tensor, which leave its target alone.
#pragma once

#include <functional>

#include "torch/data/example.h"
#include "torch/data/transforms/base.h"

namespace torch::data::transforms {

template <class Target = Tensor>
class TensorTransform
    : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  virtual Tensor operator()(Tensor input) = 0;
  E apply(E input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;
  explicit TensorLambda(FunctionType f) : function_(std::move(f)) {}
  Tensor operator()(Tensor input) override {
    return function_(std::move(input));
  }

 private:
  FunctionType function_;
};

/// (x - mean) / stddev, of one number or one a channel.
template <class Target = Tensor>
struct Normalize : TensorTransform<Target> {
  Normalize(at::ArrayRef<double> mean, at::ArrayRef<double> stddev)
      : mean(channels(mean)), stddev(channels(stddev)) {}
  Tensor operator()(Tensor input) override {
    return input.sub(mean).div(stddev);
  }

  Tensor mean, stddev;

 private:
  static Tensor channels(at::ArrayRef<double> values) {
    return torch::tensor(values, kFloat32).unsqueeze(1).unsqueeze(2);
  }
};

}  // namespace torch::data::transforms
