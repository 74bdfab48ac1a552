// Distances and similarities as modules.
#pragma once

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/distance.h"

namespace torch::nn {

class CosineSimilarityImpl
    : public WithOptions<CosineSimilarityImpl, CosineSimilarityOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& x1, const Tensor& x2);
  void pretty_print(std::ostream& out) const override;
};
HOTARU_TORCH_MODULE(CosineSimilarity);

class PairwiseDistanceImpl
    : public WithOptions<PairwiseDistanceImpl, PairwiseDistanceOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& x1, const Tensor& x2);
  void pretty_print(std::ostream& out) const override;
};
HOTARU_TORCH_MODULE(PairwiseDistance);

}  // namespace torch::nn
