// How many examples make the next batch of a stream.
#pragma once

#include "torch/data/samplers/base.h"

namespace torch::data::samplers {

/// A size as a request.
struct BatchSize {
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept { return size_; }
  operator size_t() const noexcept { return size_; }

 private:
  size_t size_;
};

/// Sizes that add up to an epoch.
class StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t taken_ = 0, epoch_size_;
};

}  // namespace torch::data::samplers
