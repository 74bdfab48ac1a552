// Functions as transforms.
#pragma once

#include <functional>

#include "torch/data/transforms/base.h"

namespace torch::data::transforms {

/// f(batch).
template <class Input, class Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;

  explicit BatchLambda(FunctionType f) : function_(std::move(f)) {}
  Output apply_batch(Input batch) override {
    return function_(std::move(batch));
  }

 private:
  FunctionType function_;
};

/// f(example).
template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;

  explicit Lambda(FunctionType f) : function_(std::move(f)) {}
  Output apply(Input example) override { return function_(std::move(example)); }

 private:
  FunctionType function_;
};

}  // namespace torch::data::transforms
