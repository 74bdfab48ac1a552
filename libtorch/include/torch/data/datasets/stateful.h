// Datasets that are read once from the beginning to the end.
#pragma once

#include "torch/data/datasets/base.h"
#include "torch/serialize/archive.h"

namespace torch::data::datasets {

template <class Self, class Batch = std::vector<Example<>>,
          class BatchRequest = size_t>
class StatefulDataset
    : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  /// Begins again, for another epoch.
  virtual void reset() = 0;
  /// Where it is.
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class... Args>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const StatefulDataset<Args...>& dataset) {
  dataset.save(archive);
  return archive;
}
template <class... Args>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    StatefulDataset<Args...>& dataset) {
  dataset.load(archive);
  return archive;
}

}  // namespace torch::data::datasets
