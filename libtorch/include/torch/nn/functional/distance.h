// Distances and similarities.
#pragma once

#include "torch/nn/options/distance.h"

namespace torch::nn::functional {

inline Tensor cosine_similarity(
    const Tensor& x1, const Tensor& x2,
    const CosineSimilarityFuncOptions& options = {}) {
  return torch::cosine_similarity(x1, x2, options.dim(), options.eps());
}
inline Tensor pairwise_distance(
    const Tensor& x1, const Tensor& x2,
    const PairwiseDistanceFuncOptions& options = {}) {
  return torch::pairwise_distance(x1, x2, options.p(), options.eps(),
                                  options.keepdim());
}
/// Distance of each pair of rows, once.
inline Tensor pdist(const Tensor& input, double p = 2.0) {
  return torch::pdist(input, p);
}

}  // namespace torch::nn::functional
