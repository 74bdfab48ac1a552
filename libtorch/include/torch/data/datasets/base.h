// Bases of datasets.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "torch/data/example.h"

namespace torch::data::datasets {

template <class Source, class Transform>
class MapDataset;

namespace detail {
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <bool kYes, class T>
using optional_if_t = std::conditional_t<kYes, std::optional<T>, T>;
}  // namespace detail

/// Gives batches for requests; Self is the derived class. One whose batches
/// are optional is stateful: it ends when it gives none.
template <class Self, class Batch = std::vector<Example<>>,
          class BatchRequest = at::ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = detail::is_optional<BatchType>::value;

  virtual ~BatchDataset() = default;
  virtual Batch get_batch(BatchRequest request) = 0;
  /// Nothing where it is not known.
  virtual std::optional<size_t> size() const = 0;

  /// This dataset, whose batches go through a transform.
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) & {
    return {static_cast<Self&>(*this), std::move(transform)};
  }
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) && {
    return {std::move(static_cast<Self&>(*this)), std::move(transform)};
  }
};

/// Gives one example for an index; batches are vectors of them.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual ExampleType get(size_t index) = 0;
  std::vector<ExampleType> get_batch(at::ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t i : indices) batch.push_back(get(i));
    return batch;
  }
};

/// Gives batches of a size, of a stream that has no indices.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

}  // namespace torch::data::datasets
