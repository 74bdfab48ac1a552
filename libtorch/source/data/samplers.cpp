#include "torch/data/samplers.h"

#include <algorithm>

namespace torch::data::samplers {

RandomSampler::RandomSampler(int64_t size, Dtype index_dtype)
    : indices_(torch::randperm(size, index_dtype)) {}

void RandomSampler::reset(std::optional<size_t> new_size) {
  const auto size = int64_t(new_size.value_or(size_t(indices_.numel())));
  indices_ = torch::randperm(size, indices_.options());
  index_ = 0;
}
std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const int64_t left = indices_.numel() - index_;
  if (left <= 0) return std::nullopt;
  const int64_t n = std::min(int64_t(batch_size), left);
  const Tensor chosen =
      indices_.slice(0, index_, index_ + n).to(kInt64).contiguous();
  const int64_t* data = chosen.const_data_ptr<int64_t>();
  index_ += n;
  return std::vector<size_t>(data, data + n);
}
void RandomSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", torch::tensor(index_, kInt64), /*is_buffer=*/true);
  archive.write("indices", indices_, /*is_buffer=*/true);
}
void RandomSampler::load(serialize::InputArchive& archive) {
  Tensor index;
  archive.read("index", index, /*is_buffer=*/true);
  index_ = index.item<int64_t>();
  archive.read("indices", indices_, /*is_buffer=*/true);
}

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}
std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (index_ >= size_) return std::nullopt;
  std::vector<size_t> out(std::min(batch_size, size_ - index_));
  for (size_t& i : out) i = index_++;
  return out;
}
void SequentialSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", torch::tensor(int64_t(index_), kInt64),
                /*is_buffer=*/true);
}
void SequentialSampler::load(serialize::InputArchive& archive) {
  Tensor index;
  archive.read("index", index, /*is_buffer=*/true);
  index_ = size_t(index.item<int64_t>());
}

void StreamSampler::reset(std::optional<size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  taken_ = 0;
}
std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (taken_ >= epoch_size_) return std::nullopt;
  const size_t n = std::min(batch_size, epoch_size_ - taken_);
  taken_ += n;
  return BatchSize(n);
}
void StreamSampler::save(serialize::OutputArchive& archive) const {
  archive.write("examples_retrieved_so_far",
                torch::tensor(int64_t(taken_), kInt64), /*is_buffer=*/true);
}
void StreamSampler::load(serialize::InputArchive& archive) {
  Tensor taken;
  archive.read("examples_retrieved_so_far", taken, /*is_buffer=*/true);
  taken_ = size_t(taken.item<int64_t>());
}

}  // namespace torch::data::samplers
