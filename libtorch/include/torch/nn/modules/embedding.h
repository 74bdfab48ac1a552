// A table of vectors, looked up by integers.
#pragma once

#include "torch/nn/cloneable.h"
#include "torch/nn/modules/container/any.h"
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
HOTARU_TORCH_EXTERN template class Cloneable<EmbeddingImpl>;

/// The same for bags of rows: their sum, mean or maximum.
class EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  /// input (bags, length), or a vector with `offsets` of the bags.
  Tensor forward(const Tensor& input, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {});

  EmbeddingBagOptions options;
  Tensor weight;  // (num_embeddings, embedding_dim)

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};

class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  static EmbeddingBag from_pretrained(
      const Tensor& embeddings,
      const EmbeddingBagFromPretrainedOptions& options = {});
};
HOTARU_TORCH_EXTERN template class Cloneable<EmbeddingBagImpl>;

}  // namespace torch::nn
