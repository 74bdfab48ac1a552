// Transforms that batches of a dataset go through.
#pragma once

#include <utility>
#include <vector>

namespace torch::data::transforms {

template <class Input, class Output>
class BatchTransform {
 public:
  using InputBatchType = Input;
  using OutputBatchType = Output;

  virtual ~BatchTransform() = default;
  virtual OutputBatchType apply_batch(InputBatchType input) = 0;
};

/// Example by example.
template <class Input, class Output>
class Transform
    : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  virtual OutputType apply(InputType input) = 0;
  std::vector<Output> apply_batch(std::vector<Input> batch) override {
    std::vector<Output> out;
    out.reserve(batch.size());
    for (Input& input : batch) out.push_back(apply(std::move(input)));
    return out;
  }
};

}  // namespace torch::data::transforms
