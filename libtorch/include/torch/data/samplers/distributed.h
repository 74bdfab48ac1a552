// A share of the examples for each of several processes.
#pragma once

#include <vector>

#include "torch/data/samplers/base.h"

namespace torch::data::samplers {

/// All shares are of one size: where the number of examples is no multiple of
/// theirs some examples come twice, or with allow_duplicates false not at all.
template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  explicit DistributedSampler(size_t size, size_t num_replicas = 1,
                              size_t rank = 0, bool allow_duplicates = true)
      : size_(size),
        num_replicas_(num_replicas),
        rank_(rank),
        allow_duplicates_(allow_duplicates) {
    TORCH_CHECK(num_replicas > 0 && rank < num_replicas,
                "the rank has to be below the number of replicas (got rank ",
                rank, " of ", num_replicas, ")");
  }

  /// Sets what random orders depend on; the same in all processes.
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  size_t epoch() const { return epoch_; }

 protected:
  size_t local_sample_count() const {
    return allow_duplicates_ ? (size_ + num_replicas_ - 1) / num_replicas_
                             : size_ / num_replicas_;
  }

  size_t size_, num_replicas_, rank_, epoch_ = 0;
  bool allow_duplicates_;
};

/// In an order that the epoch says; processes take turns over parts of it.
class DistributedRandomSampler : public DistributedSampler<> {
 public:
  explicit DistributedRandomSampler(size_t size, size_t num_replicas = 1,
                                    size_t rank = 0,
                                    bool allow_duplicates = true);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return index_; }

 private:
  std::vector<size_t> order_;
  size_t index_ = 0;
};

/// In order: the first process has the first part.
class DistributedSequentialSampler : public DistributedSampler<> {
 public:
  explicit DistributedSequentialSampler(size_t size, size_t num_replicas = 1,
                                        size_t rank = 0,
                                        bool allow_duplicates = true);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return index_; }

 private:
  size_t index_ = 0;
};

}  // namespace torch::data::samplers
