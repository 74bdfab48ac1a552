#include "torch/nn/modules/transformer.h"

#include <initializer_list>
#include <limits>
#include <string>

#include "torch/nn/functional/activation.h"
#include "torch/nn/init.h"

namespace torch::nn {

namespace {

Tensor activated(const activation_t& activation, const Tensor& x) {
  if (is_chosen<enumtype::kGELU>(activation)) return functional::gelu(x);
  if (is_chosen<enumtype::kReLU>(activation)) return functional::relu(x);
  return std::get<std::function<Tensor(const Tensor&)>>(activation)(x);
}

MultiheadAttention attention(const TransformerLayerOptions& o) {
  return MultiheadAttention(
      MultiheadAttentionOptions(o.d_model(), o.nhead()).dropout(o.dropout()));
}

LayerNorm norm_of(const TransformerLayerOptions& o) {
  return LayerNorm(LayerNormOptions({o.d_model()}));
}

/// Registers what lies behind a layer's attentions: two linear maps, and the
/// norms and the dropouts of its parts, which are numbered.
template <class Layer>
void register_rest(Layer& self, std::initializer_list<LayerNorm*> norms,
                   std::initializer_list<Dropout*> dropouts) {
  const TransformerLayerOptions& o = self.options;
  self.linear1 =
      self.register_module("linear1", Linear(o.d_model(), o.dim_feedforward()));
  self.dropout = self.register_module("dropout", Dropout(o.dropout()));
  self.linear2 =
      self.register_module("linear2", Linear(o.dim_feedforward(), o.d_model()));
  int n = 0;
  for (LayerNorm* norm : norms)
    *norm = self.register_module("norm" + std::to_string(++n), norm_of(o));
  n = 0;
  for (Dropout* dropout : dropouts)
    *dropout = self.register_module("dropout" + std::to_string(++n),
                                    Dropout(o.dropout()));
}

Tensor attended(MultiheadAttention& attention, const Tensor& query,
                const Tensor& memory, const Tensor& padding,
                const Tensor& mask) {
  return std::get<0>(attention(query, memory, memory, padding,
                               /*need_weights=*/false, mask));
}

/// Registers a stack's layers and the norm behind them, if there is one, in
/// `self`; gives both.
template <class Layer>
std::pair<ModuleList, AnyModule> stacked(Module& self, const Layer& layer,
                                         int64_t count, const AnyModule& norm) {
  ModuleList layers = self.register_module("layers", ModuleList());
  for (int64_t i = 0; i < count; ++i) layers->push_back(layer->clone());
  AnyModule behind;
  if (!norm.is_empty()) {
    behind = norm.clone();
    self.register_module("norm", behind.ptr());
  }
  return {layers, behind};
}

template <class LayerImpl>
void reset_stack(ModuleList& layers, AnyModule& norm) {
  for (size_t i = 0; i < layers->size(); ++i)
    layers->at<LayerImpl>(i).reset_parameters();
  if (norm.is_empty()) return;
  if (auto* layer = norm.ptr()->as<LayerNormImpl>()) layer->reset_parameters();
}

void check_layers(const ModuleList& layers, const char* name) {
  TORCH_CHECK(layers->size() > 0, name, " should have at least one layer.");
}

}  // namespace

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(
    TransformerEncoderLayerOptions given)
    : options(std::move(given)) {
  TransformerEncoderLayerImpl::reset();
}
void TransformerEncoderLayerImpl::reset() {
  self_attn = register_module("self_attn", attention(options));
  register_rest(*this, {&norm1, &norm2}, {&dropout1, &dropout2});
}
void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  for (Linear layer : {linear1, linear2}) layer->reset_parameters();
  for (LayerNorm layer : {norm1, norm2}) layer->reset_parameters();
}
Tensor TransformerEncoderLayerImpl::forward(
    const Tensor& src, const Tensor& src_mask,
    const Tensor& src_key_padding_mask) {
  const Tensor own =
      attended(self_attn, src, src, src_key_padding_mask, src_mask);
  const Tensor x = norm1(src + dropout1(own));
  const Tensor inner = activated(options.activation(), linear1(x));
  return norm2(x + dropout2(linear2(dropout(inner))));
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(
    TransformerDecoderLayerOptions given)
    : options(std::move(given)) {
  TransformerDecoderLayerImpl::reset();
}
void TransformerDecoderLayerImpl::reset() {
  self_attn = register_module("self_attn", attention(options));
  multihead_attn = register_module("multihead_attn", attention(options));
  register_rest(*this, {&norm1, &norm2, &norm3},
                {&dropout1, &dropout2, &dropout3});
}
void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  for (Linear layer : {linear1, linear2}) layer->reset_parameters();
  for (LayerNorm layer : {norm1, norm2, norm3}) layer->reset_parameters();
}
Tensor TransformerDecoderLayerImpl::forward(
    Tensor tgt, const Tensor& memory, const Tensor& tgt_mask,
    const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
    const Tensor& memory_key_padding_mask) {
  const Tensor own =
      attended(self_attn, tgt, tgt, tgt_key_padding_mask, tgt_mask);
  const Tensor x = norm1(tgt + dropout1(own));
  const Tensor other =
      attended(multihead_attn, x, memory, memory_key_padding_mask, memory_mask);
  const Tensor y = norm2(x + dropout2(other));
  const Tensor inner = activated(options.activation(), linear1(y));
  return norm3(y + dropout3(linear2(dropout(inner))));
}

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions given)
    : options(std::move(given)) {
  TransformerEncoderImpl::reset();
}
void TransformerEncoderImpl::reset() {
  std::tie(layers, norm) = stacked(*this, options.encoder_layer(),
                                   options.num_layers(), options.norm());
}
void TransformerEncoderImpl::reset_parameters() {
  reset_stack<TransformerEncoderLayerImpl>(layers, norm);
}
Tensor TransformerEncoderImpl::forward(const Tensor& src,
                                       const Tensor& src_mask,
                                       const Tensor& src_key_padding_mask) {
  check_layers(layers, "TransformerEncoder");
  Tensor x = src;
  for (size_t i = 0; i < layers->size(); ++i)
    x = layers->at<TransformerEncoderLayerImpl>(i).forward(
        x, src_mask, src_key_padding_mask);
  return norm.is_empty() ? x : norm.forward<Tensor>(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions given)
    : options(std::move(given)) {
  TransformerDecoderImpl::reset();
}
void TransformerDecoderImpl::reset() {
  std::tie(layers, norm) = stacked(*this, options.decoder_layer(),
                                   options.num_layers(), options.norm());
}
void TransformerDecoderImpl::reset_parameters() {
  reset_stack<TransformerDecoderLayerImpl>(layers, norm);
}
Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory,
                                       const Tensor& tgt_mask,
                                       const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  check_layers(layers, "TransformerDecoder");
  Tensor x = tgt;
  for (size_t i = 0; i < layers->size(); ++i)
    x = layers->at<TransformerDecoderLayerImpl>(i).forward(
        x, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
        memory_key_padding_mask);
  return norm.is_empty() ? x : norm.forward<Tensor>(x);
}

TransformerImpl::TransformerImpl(TransformerOptions given)
    : options(std::move(given)) {
  TransformerImpl::reset();
}
void TransformerImpl::reset() {
  const TransformerLayerOptions layer =
      TransformerLayerOptions(options.d_model(), options.nhead())
          .dim_feedforward(options.dim_feedforward())
          .dropout(options.dropout())
          .activation(options.activation());
  const auto norm = [&] {
    return AnyModule(LayerNorm(LayerNormOptions({options.d_model()})));
  };
  encoder =
      options.custom_encoder().is_empty()
          ? AnyModule(TransformerEncoder(
                TransformerEncoderOptions(layer, options.num_encoder_layers())
                    .norm(norm())))
          : options.custom_encoder().clone();
  register_module("encoder", encoder.ptr());
  decoder =
      options.custom_decoder().is_empty()
          ? AnyModule(TransformerDecoder(
                TransformerDecoderOptions(layer, options.num_decoder_layers())
                    .norm(norm())))
          : options.custom_decoder().clone();
  register_module("decoder", decoder.ptr());
  reset_parameters();
}
void TransformerImpl::reset_parameters() {
  for (const Tensor& parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}
Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt,
                                const Tensor& src_mask, const Tensor& tgt_mask,
                                const Tensor& memory_mask,
                                const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask,
                                const Tensor& memory_key_padding_mask) {
  TORCH_CHECK(src.dim() == 3 && tgt.dim() == 3,
              "src and tgt should have 3 dimensions, but got ", src.dim(),
              " and ", tgt.dim());
  TORCH_CHECK(src.size(1) == tgt.size(1),
              "src and tgt should have equal batch size (at dim 1), but got ",
              src.size(1), " and ", tgt.size(1));
  TORCH_CHECK(
      src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
      "src and tgt should have same feature size as d_model (at dim "
      "2), but got ",
      src.size(2), " and ", tgt.size(2), " while d_model is ",
      options.d_model());
  const Tensor memory =
      encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
  return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask,
                                 tgt_key_padding_mask, memory_key_padding_mask);
}
Tensor TransformerImpl::generate_square_subsequent_mask(int64_t size) {
  TORCH_CHECK(size >= 0,
              "Input size must be non-negative to generate a valid "
              "square subsequent mask, but got ",
              size);
  return torch::triu(
      torch::full({size, size}, -std::numeric_limits<float>::infinity()), 1);
}

}  // namespace torch::nn
