// Examples stacked along a new first dimension.
#pragma once

#include "torch/data/transforms/collate.h"

namespace torch::data::transforms {

template <class T = Example<>>
struct Stack;

template <>
struct Stack<Example<>> : Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override {
    std::vector<Tensor> data, targets;
    for (Example<>& example : examples) {
      data.push_back(std::move(example.data));
      targets.push_back(std::move(example.target));
    }
    return {torch::stack(data), torch::stack(targets)};
  }
};

template <>
struct Stack<TensorExample> : Collation<Tensor, std::vector<TensorExample>> {
  Tensor apply_batch(std::vector<TensorExample> examples) override {
    std::vector<Tensor> data;
    for (TensorExample& example : examples)
      data.push_back(std::move(example.data));
    return torch::stack(data);
  }
};

}  // namespace torch::data::transforms
