// A dataset whose batches go through a transform.
#pragma once

#include "torch/data/datasets/base.h"

namespace torch::data::datasets {

template <class Source, class Transform>
class MapDataset
    : public BatchDataset<
          MapDataset<Source, Transform>,
          detail::optional_if_t<Source::is_stateful,
                                typename Transform::OutputBatchType>,
          typename Source::BatchRequestType> {
 public:
  using DatasetType = Source;
  using TransformType = Transform;
  using BatchRequestType = typename Source::BatchRequestType;
  using OutputBatchType =
      detail::optional_if_t<Source::is_stateful,
                            typename Transform::OutputBatchType>;

  MapDataset(Source dataset, Transform transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType request) override {
    if constexpr (Source::is_stateful) {
      auto batch = dataset_.get_batch(std::move(request));
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(request)));
    }
  }
  std::optional<size_t> size() const override { return dataset_.size(); }
  /// Resets a stateful one: it begins again.
  void reset() { dataset_.reset(); }
  const Source& dataset() noexcept { return dataset_; }
  const Transform& transform() noexcept { return transform_; }

 private:
  Source dataset_;
  Transform transform_;
};

template <class Source, class Transform>
MapDataset<Source, Transform> map(Source dataset, Transform transform) {
  return {std::move(dataset), std::move(transform)};
}

}  // namespace torch::data::datasets
