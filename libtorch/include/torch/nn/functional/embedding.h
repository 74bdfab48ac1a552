// Rows of tables, by integers.
#pragma once

#include "torch/nn/options/embedding.h"

namespace torch::nn::functional {

inline Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1) {
  return torch::one_hot(tensor, num_classes);
}
/// weight (rows, dimension); `max_norm` renormalises rows that are read.
Tensor embedding(const Tensor& input, const Tensor& weight,
                 const EmbeddingFuncOptions& options = {});
/// Sums, means or maxima of bags of rows: input (bags, length), or a vector
/// with offsets of the bags.
Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options = {});

}  // namespace torch::nn::functional
