#include "torch/data/samplers/distributed.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "torch/types.h"

namespace torch::data::samplers {

namespace {

void write_number(serialize::OutputArchive& archive, const char* name,
                  size_t value) {
  archive.write(name, torch::tensor(int64_t(value), kInt64),
                /*is_buffer=*/true);
}
size_t read_number(serialize::InputArchive& archive, const char* name) {
  Tensor value;
  archive.read(name, value, /*is_buffer=*/true);
  return size_t(value.item<int64_t>());
}

/// How many of the share's examples come next, of those from `index` on.
size_t next_count(size_t batch_size, size_t index, size_t end) {
  return index >= end ? 0 : std::min(batch_size, end - index);
}

}  // namespace

DistributedRandomSampler::DistributedRandomSampler(size_t size,
                                                   size_t num_replicas,
                                                   size_t rank,
                                                   bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  DistributedRandomSampler::reset(size);
}
void DistributedRandomSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  // The same permutation everywhere. What the shares have no room for is left
  // out before, or the first examples come again until all shares are full.
  order_.resize(local_sample_count() * num_replicas_);
  for (size_t i = 0; i < order_.size(); ++i) order_[i] = i % size_;
  std::mt19937 generator{uint32_t(epoch_)};
  std::shuffle(order_.begin(), order_.end(), generator);
  index_ = rank_ * local_sample_count();
}
std::optional<std::vector<size_t>> DistributedRandomSampler::next(
    size_t batch_size) {
  const size_t n =
      next_count(batch_size, index_, (rank_ + 1) * local_sample_count());
  if (n == 0) return std::nullopt;
  const auto begin = order_.begin() + std::ptrdiff_t(index_);
  index_ += n;
  return std::vector<size_t>(begin, begin + std::ptrdiff_t(n));
}
void DistributedRandomSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "sample_index_", index_);
  write_number(archive, "epoch_", epoch_);
}
void DistributedRandomSampler::load(serialize::InputArchive& archive) {
  epoch_ = read_number(archive, "epoch_");
  // The order that this epoch had.
  reset(size_);
  index_ = read_number(archive, "sample_index_");
}

DistributedSequentialSampler::DistributedSequentialSampler(
    size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  DistributedSequentialSampler::reset(size);
}
void DistributedSequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = rank_ * local_sample_count();
}
std::optional<std::vector<size_t>> DistributedSequentialSampler::next(
    size_t batch_size) {
  const size_t n =
      next_count(batch_size, index_, (rank_ + 1) * local_sample_count());
  if (n == 0) return std::nullopt;
  std::vector<size_t> out(n);
  for (size_t& i : out) i = index_++ % size_;
  return out;
}
void DistributedSequentialSampler::save(
    serialize::OutputArchive& archive) const {
  write_number(archive, "sample_index_", index_);
}
void DistributedSequentialSampler::load(serialize::InputArchive& archive) {
  index_ = read_number(archive, "sample_index_");
}

}  // namespace torch::data::samplers
