// Every example once, in an order that the generator draws.
#pragma once

#include "torch/data/samplers/base.h"

namespace torch::data::samplers {

class RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(int64_t size, Dtype index_dtype = kInt64);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return size_t(index_); }

 private:
  Tensor indices_;
  int64_t index_ = 0;
};

}  // namespace torch::data::samplers
