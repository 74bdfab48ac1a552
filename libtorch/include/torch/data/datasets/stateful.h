// Datasets that are read once from the beginning to the end.
#pragma once

#include "torch/data/datasets/base.h"

namespace torch::data::datasets {

template <class Self, class Batch = std::vector<Example<>>,
          class BatchRequest = size_t>
class StatefulDataset
    : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  /// Begins again, for another epoch.
  virtual void reset() = 0;
};

}  // namespace torch::data::datasets
