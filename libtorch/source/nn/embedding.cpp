#include "torch/nn/modules/embedding.h"

#include "torch/nn/functional/embedding.h"
#include "torch/nn/init.h"

namespace torch::nn {

namespace functional {

Tensor embedding(const Tensor& input, const Tensor& weight,
                 const EmbeddingFuncOptions& options) {
  int64_t padding = -1;
  if (options.padding_idx()) {
    const int64_t rows = weight.size(0);
    padding = *options.padding_idx();
    TORCH_CHECK(padding < rows && padding >= -rows,
                "Padding_idx must be within num_embeddings");
    if (padding < 0) padding += rows;
  }
  if (options.max_norm()) {
    const NoGradGuard no_grad;
    Tensor(weight).embedding_renorm_(input.contiguous(), *options.max_norm(),
                                     options.norm_type());
  }
  return torch::embedding(weight, input, padding, options.scale_grad_by_freq(),
                          options.sparse());
}

Tensor embedding_bag(const Tensor& given, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options) {
  Tensor input = given, offsets = options.offsets();
  Tensor weights = options.per_sample_weights();
  const int64_t mode = is_chosen<enumtype::kSum>(options.mode())    ? 0
                       : is_chosen<enumtype::kMean>(options.mode()) ? 1
                                                                    : 2;
  TORCH_CHECK(!weights.defined() || weights.sizes() == input.sizes(),
              "embedding_bag: If per_sample_weights (", weights.sizes(),
              ") is not null, then it must have the same shape as the input (",
              input.sizes(), ")");
  if (input.dim() == 2) {
    TORCH_CHECK(!offsets.defined(),
                "If input is 2D, then offsets has to be null, as input is "
                "treated is a mini-batch of fixed length sequences. However, "
                "found offsets of type Tensor");
    offsets = torch::arange(
        0, input.numel(), input.size(1),
        torch::TensorOptions(torch::kLong).device(input.device()));
    input = input.reshape(-1);
    if (weights.defined()) weights = weights.reshape(-1);
  } else {
    TORCH_CHECK(input.dim() == 1,
                "input has to be a 1D or 2D Tensor, but got Tensor of "
                "dimension ",
                input.dim());
    TORCH_CHECK(offsets.defined() && offsets.dim() == 1,
                "offsets has to be a 1D Tensor, where input is one");
  }
  TORCH_CHECK(!weights.defined() || mode == 0,
              "embedding_bag: per_sample_weights was not null. "
              "per_sample_weights is only supported for mode='kSum' (got "
              "mode='",
              enumtype::get_enum_name(options.mode()),
              "').Please open a feature request on GitHub.");
  if (options.max_norm()) {
    const NoGradGuard no_grad;
    Tensor(weight).embedding_renorm_(input.contiguous(), *options.max_norm(),
                                     options.norm_type());
  }
  return std::get<0>(torch::embedding_bag(
      weight, input, offsets, options.scale_grad_by_freq(), mode,
      options.sparse(), weights, options.include_last_offset(),
      options.padding_idx()));
}

}  // namespace functional

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
  return functional::embedding(
      indices, weight,
      functional::EmbeddingFuncOptions()
          .padding_idx(options.padding_idx())
          .max_norm(options.max_norm())
          .norm_type(options.norm_type())
          .scale_grad_by_freq(options.scale_grad_by_freq())
          .sparse(options.sparse()));
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

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions given)
    : options(std::move(given)) {
  EmbeddingBagImpl::reset();
}
void EmbeddingBagImpl::reset() {
  const std::array<int64_t, 2> sizes{options.num_embeddings(),
                                     options.embedding_dim()};
  if (auto& index = options.padding_idx()) {
    TORCH_CHECK(*index < sizes[0] && *index >= -sizes[0],
                "Padding_idx must be within num_embeddings");
    if (*index < 0) *index += sizes[0];
  }
  if (!options._weight().defined()) {
    weight = register_parameter("weight", torch::empty(sizes));
    reset_parameters();
    return;
  }
  TORCH_CHECK(options._weight().sizes() == at::IntArrayRef(sizes),
              "Shape of weight does not match num_embeddings and "
              "embedding_dim");
  weight = register_parameter("weight", options._weight());
}
void EmbeddingBagImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight[*options.padding_idx()].fill_(0);
}
void EmbeddingBagImpl::pretty_print(std::ostream& out) const {
  out << std::boolalpha
      << "torch::nn::EmbeddingBag(num_embeddings=" << options.num_embeddings()
      << ", embedding_dim=" << options.embedding_dim();
  if (options.max_norm()) out << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) out << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) out << ", scale_grad_by_freq=" << true;
  if (options.sparse()) out << ", sparse=" << true;
  if (!is_chosen<enumtype::kMean>(options.mode()))
    out << ", mode=" << enumtype::get_enum_name(options.mode());
  if (options.include_last_offset()) out << ", include_last_offset=" << true;
  if (options.padding_idx()) out << ", padding_idx=" << *options.padding_idx();
  out << ")";
}
Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets,
                                 const Tensor& per_sample_weights) {
  return functional::embedding_bag(
      input, weight,
      functional::EmbeddingBagFuncOptions()
          .offsets(offsets)
          .max_norm(options.max_norm())
          .norm_type(options.norm_type())
          .scale_grad_by_freq(options.scale_grad_by_freq())
          .mode(options.mode())
          .sparse(options.sparse())
          .per_sample_weights(per_sample_weights)
          .include_last_offset(options.include_last_offset())
          .padding_idx(options.padding_idx()));
}

EmbeddingBag EmbeddingBag::from_pretrained(
    const Tensor& embeddings,
    const EmbeddingBagFromPretrainedOptions& options) {
  TORCH_CHECK(embeddings.dim() == 2,
              "Embeddings parameter is expected to be 2-dimensional");
  EmbeddingBag out(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                       ._weight(embeddings)
                       .max_norm(options.max_norm())
                       .norm_type(options.norm_type())
                       .scale_grad_by_freq(options.scale_grad_by_freq())
                       .mode(options.mode())
                       .sparse(options.sparse())
                       .include_last_offset(options.include_last_offset())
                       .padding_idx(options.padding_idx()));
  out->weight.set_requires_grad(!options.freeze());
  return out;
}

}  // namespace torch::nn
