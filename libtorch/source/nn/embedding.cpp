#include "torch/nn/modules/embedding.h"

#include "torch/nn/init.h"

namespace torch::nn {

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions given)
    : options(std::move(given)) {
  EmbeddingImpl::reset();
}
void EmbeddingImpl::reset() {
  if (auto& index = options.padding_idx()) {
    const int64_t n = options.num_embeddings();
    TORCH_CHECK(*index < n && *index >= -n,
                "Padding_idx must be within num_embeddings");
    if (*index < 0) *index += n;
  }
  if (!options._weight().defined()) {
    weight = register_parameter(
        "weight",
        torch::empty({options.num_embeddings(), options.embedding_dim()}));
    reset_parameters();
    return;
  }
  TORCH_CHECK(
      options._weight().sizes() ==
          at::IntArrayRef({options.num_embeddings(), options.embedding_dim()}),
      "Shape of _weight does not match num_embeddings and "
      "embedding_dim");
  weight = register_parameter("weight", options._weight());
}
void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight[*options.padding_idx()].fill_(0);
}
void EmbeddingImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::Embedding(num_embeddings=" << options.num_embeddings()
      << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) out << ", padding_idx=" << *options.padding_idx();
  if (options.max_norm()) out << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) out << ", norm_type=" << options.norm_type();
  out << std::boolalpha;
  if (options.scale_grad_by_freq()) out << ", scale_grad_by_freq=" << true;
  if (options.sparse()) out << ", sparse=" << true;
  out << ")";
}
Tensor EmbeddingImpl::forward(const Tensor& indices) {
  if (options.max_norm()) {
    const NoGradGuard no_grad;
    torch::embedding_renorm_(weight, indices.contiguous(), *options.max_norm(),
                             options.norm_type());
  }
  return torch::embedding(weight, indices, options.padding_idx().value_or(-1),
                          options.scale_grad_by_freq(), options.sparse());
}

Embedding Embedding::from_pretrained(
    const Tensor& embeddings, const EmbeddingFromPretrainedOptions& options) {
  TORCH_CHECK(embeddings.dim() == 2,
              "Embeddings parameter is expected to be 2-dimensional");
  Embedding out(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                    ._weight(embeddings)
                    .padding_idx(options.padding_idx())
                    .max_norm(options.max_norm())
                    .norm_type(options.norm_type())
                    .scale_grad_by_freq(options.scale_grad_by_freq())
                    .sparse(options.sparse()));
  out->weight.set_requires_grad(!options.freeze());
  return out;
}

}  // namespace torch::nn
