// Batches of a dataset, made ahead by tasks of the process's pool.
#pragma once

#include <memory>
#include <utility>

#include "torch/data/dataloader/loader.h"
#include "torch/data/samplers.h"

namespace torch::data {

/// The dataset's batches as the sampler asks for them. Each worker has a copy
/// of the dataset.
template <class Dataset, class Sampler>
class StatelessDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType,
                            typename Sampler::BatchRequestType> {
  using Base = DataLoaderBase<Dataset, typename Dataset::BatchType,
                              typename Sampler::BatchRequestType>;

 public:
  StatelessDataLoader(Dataset dataset, Sampler sampler,
                      DataLoaderOptions options)
      : Base(std::move(options), std::move(dataset)),
        sampler_(std::move(sampler)) {}
  ~StatelessDataLoader() override { this->join(); }

 private:
  void restart() override { sampler_.reset(std::nullopt); }
  std::optional<typename Base::BatchRequestType> next_request() override {
    auto request = sampler_.next(this->options().batch_size);
    const bool partial =
        request && request->size() < this->options().batch_size;
    if (partial && this->options().drop_last) return std::nullopt;
    return request;
  }

  Sampler sampler_;
};

/// The batches of one stateful dataset, which all workers share, until it
/// gives none.
template <class Dataset>
class StatefulDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                            typename Dataset::BatchRequestType> {
  using Base = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                              typename Dataset::BatchRequestType>;

 public:
  StatefulDataLoader(Dataset dataset, DataLoaderOptions options)
      : Base(std::move(options), std::move(dataset)) {}
  ~StatefulDataLoader() override { this->join(); }

 private:
  void restart() override { this->dataset().reset(); }
  std::optional<typename Base::BatchRequestType> next_request() override {
    return this->options().batch_size;
  }
};

template <class Dataset, class Sampler>
std::enable_if_t<!Dataset::is_stateful,
                 std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>>
make_data_loader(Dataset dataset, Sampler sampler, DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(
      std::move(dataset), std::move(sampler), std::move(options));
}
/// With a sampler over as many examples as the dataset has.
template <class Sampler = samplers::RandomSampler, class Dataset>
std::enable_if_t<!Dataset::is_stateful &&
                     std::is_constructible_v<Sampler, size_t>,
                 std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>>
make_data_loader(Dataset dataset,
                 DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<size_t> size = dataset.size();
  TORCH_CHECK(size,
              "Expected the dataset to be sized in order to construct the "
              "Sampler");
  return make_data_loader(std::move(dataset), Sampler(*size),
                          std::move(options));
}
template <class Dataset, class = std::enable_if_t<Dataset::is_stateful>>
std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset),
                                                       std::move(options));
}

}  // namespace torch::data
