// A table of vectors, looked up by integers.
#pragma once

#include "torch/nn/cloneable.h"
#include "torch/nn/options/embedding.h"

namespace torch::nn {

class EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& indices);

  EmbeddingOptions options;
  Tensor weight;  // (num_embeddings, embedding_dim)
};

class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  /// Over a table of the caller's, two-dimensional.
  static Embedding from_pretrained(
      const Tensor& embeddings,
      const EmbeddingFromPretrainedOptions& options = {});
};

}  // namespace torch::nn
