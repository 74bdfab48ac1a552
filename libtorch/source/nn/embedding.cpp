#include "torch/nn/modules/embedding.h"

#include "torch/nn/functional/embedding.h"
#include "torch/nn/init.h"

namespace torch::nn {

namespace {

/// Counts an index from the end, too. Throws where there is no such row.
void wrap_padding(std::optional<int64_t>& index, int64_t rows) {
  if (!index) return;
  TORCH_CHECK(*index < rows && *index >= -rows,
              "Padding_idx must be within num_embeddings");
  if (*index < 0) *index += rows;
}

void reset_table(Tensor& weight, const std::optional<int64_t>& padding) {
  init::normal_(weight);
  if (!padding) return;
  const NoGradGuard no_grad;
  weight[*padding].fill_(0);
}

/// Scales the rows that are read down to the greatest norm, if there is one.
template <class Options>
void renormalise(const Tensor& weight, const Tensor& input,
                 const Options& options) {
  if (!options.max_norm()) return;
  const NoGradGuard no_grad;
  Tensor(weight).embedding_renorm_(input.contiguous(), *options.max_norm(),
                                   options.norm_type());
}

}  // namespace

namespace functional {

Tensor embedding(const Tensor& input, const Tensor& weight,
                 const EmbeddingFuncOptions& options) {
  std::optional<int64_t> padding = options.padding_idx();
  wrap_padding(padding, weight.size(0));
  renormalise(weight, input, options);
  return torch::embedding(weight, input, padding.value_or(-1),
                          options.scale_grad_by_freq(), options.sparse());
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
  renormalise(weight, input, options);
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
  wrap_padding(options.padding_idx(), options.num_embeddings());
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
  reset_table(weight, options.padding_idx());
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
  wrap_padding(options.padding_idx(), sizes[0]);
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
  reset_table(weight, options.padding_idx());
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
