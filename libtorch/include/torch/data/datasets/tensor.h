// The rows of a tensor.
#pragma once

#include "torch/data/datasets/base.h"

namespace torch::data::datasets {

struct TensorDataset : Dataset<TensorDataset, TensorExample> {
  explicit TensorDataset(const std::vector<Tensor>& tensors)
      : TensorDataset(torch::stack(tensors)) {}
  explicit TensorDataset(Tensor tensor) : tensor(std::move(tensor)) {}

  TensorExample get(size_t index) override { return tensor[int64_t(index)]; }
  std::optional<size_t> size() const override { return size_t(tensor.size(0)); }

  Tensor tensor;
};

}  // namespace torch::data::datasets
