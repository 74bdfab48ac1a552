#include "torch/nn/modules/attention.h"

#include <cmath>
#include <limits>

#include "torch/nn/functional/attention.h"
#include "torch/nn/init.h"

namespace torch::nn {

namespace functional {

namespace {

using Options = MultiheadAttentionForwardFuncOptions;

/// Queries, keys and values, projected.
std::array<Tensor, 3> projected(const Tensor& query, const Tensor& key,
                                const Tensor& value, const Options& o) {
  const int64_t size = query.size(-1);
  std::array<Tensor, 3> weights, biases;
  for (int64_t i = 0; i < 3; ++i)
    if (o.in_proj_bias().defined())
      biases[size_t(i)] = o.in_proj_bias().narrow(0, i * size, size);
  if (o.use_separate_proj_weight()) {
    weights = {o.q_proj_weight(), o.k_proj_weight(), o.v_proj_weight()};
    TORCH_CHECK(weights[1].size(1) == key.size(-1) &&
                    weights[2].size(1) == value.size(-1),
                "key and value do not fit k_proj_weight ", weights[1].sizes(),
                " and v_proj_weight ", weights[2].sizes());
  } else {
    if (query.is_same(key) && key.is_same(value)) {
      const auto all =
          torch::linear(query, o.in_proj_weight(), o.in_proj_bias())
              .chunk(3, -1);
      return {all[0], all[1], all[2]};
    }
    for (int64_t i = 0; i < 3; ++i)
      weights[size_t(i)] = o.in_proj_weight().narrow(0, i * size, size);
  }
  return {torch::linear(query, weights[0], biases[0]),
          torch::linear(key, weights[1], biases[1]),
          torch::linear(value, weights[2], biases[2])};
}

/// (positions, N, E) as (N * heads, positions, E / heads).
Tensor by_heads(const Tensor& t, int64_t heads) {
  return t.contiguous()
      .view({t.size(0), t.size(1) * heads, t.size(2) / heads})
      .transpose(0, 1);
}

Tensor one_more(const Tensor& mask) {
  return mask.defined() ? torch::constant_pad_nd(mask, {0, 1}) : mask;
}

Tensor as_boolean(const Tensor& mask, const char* name) {
  if (!mask.defined() || mask.scalar_type() != kByte) return mask;
  TORCH_WARN("Byte tensor for `", name,
             "` in `nn::MultiheadAttention` is deprecated. Use Bool tensor "
             "instead.");
  return mask.to(kBool);
}

void check_mask(const Tensor& mask, int64_t l, int64_t s, int64_t n) {
  TORCH_CHECK(mask.is_floating_point() || mask.scalar_type() == kBool,
              "Only float, byte, and bool types are supported for attn_mask, "
              "not ",
              mask.scalar_type());
  TORCH_CHECK(mask.dim() == 2 || mask.dim() == 3, "attn_mask's dimension ",
              mask.dim(), " is not supported");
  TORCH_CHECK(mask.dim() == 3 || mask.sizes() == at::IntArrayRef({l, s}),
              "The size of the 2D attn_mask is not correct.");
  TORCH_CHECK(mask.dim() == 2 || mask.sizes() == at::IntArrayRef({n, l, s}),
              "The size of the 3D attn_mask is not correct.");
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& o) {
  TORCH_CHECK(query.dim() == 3, "query must be 3D (L, N, E), got ", query.dim(),
              "D");
  const int64_t l = query.size(0), batch = query.size(1);
  const int64_t size = query.size(2), heads = o.num_heads();
  TORCH_CHECK(size == o.embed_dim_to_check(), "query's last dimension is ",
              size, ", not ", o.embed_dim_to_check());
  TORCH_CHECK(key.sizes().slice(0, 2) == value.sizes().slice(0, 2),
              "key and value differ in length or batch: ", key.sizes(), ", ",
              value.sizes());
  TORCH_CHECK(size % heads == 0, "embed_dim must be divisible by num_heads");
  Tensor mask = as_boolean(o.attn_mask(), "attn_mask");
  Tensor padding = as_boolean(o.key_padding_mask(), "key_padding_mask");

  auto [q, k, v] = projected(query, key, value, o);
  q = q * (1.0 / std::sqrt(double(size / heads)));
  if (o.bias_k().defined() && o.bias_v().defined()) {
    TORCH_CHECK(!o.static_k().defined() && !o.static_v().defined(),
                "bias cannot be added to static key or value.");
    k = torch::cat({k, o.bias_k().repeat({1, batch, 1})});
    v = torch::cat({v, o.bias_v().repeat({1, batch, 1})});
    mask = one_more(mask);
    padding = one_more(padding);
  }
  q = by_heads(q, heads);
  k = o.static_k().defined() ? o.static_k() : by_heads(k, heads);
  v = o.static_v().defined() ? o.static_v() : by_heads(v, heads);
  if (o.add_zero_attn()) {
    const auto zeros = [](const Tensor& t) {
      return torch::zeros({t.size(0), 1, t.size(2)}, t.options());
    };
    k = torch::cat({k, zeros(k)}, 1);
    v = torch::cat({v, zeros(v)}, 1);
    mask = one_more(mask);
    padding = one_more(padding);
  }
  const int64_t s = k.size(1);
  const double least = -std::numeric_limits<double>::infinity();
  Tensor scores = torch::bmm(q, k.transpose(1, 2));
  if (mask.defined()) {
    check_mask(mask, l, s, batch * heads);
    scores = mask.scalar_type() == kBool ? scores.masked_fill(mask, least)
                                         : scores + mask;
  }
  if (padding.defined()) {
    TORCH_CHECK(padding.sizes() == at::IntArrayRef({batch, s}),
                "key_padding_mask must be (N, S) = (", batch, ", ", s,
                "), got ", padding.sizes());
    scores =
        scores.view({batch, heads, l, s})
            .masked_fill(padding.unsqueeze(1).unsqueeze(2).to(kBool), least)
            .view({batch * heads, l, s});
  }
  Tensor weights = torch::softmax(scores, -1);
  weights = torch::dropout(weights, o.dropout_p(), o.training());
  const Tensor joined = torch::bmm(weights, v)
                            .transpose(0, 1)
                            .contiguous()
                            .view({l, batch, size});
  const Tensor out =
      torch::linear(joined, o.out_proj_weight(), o.out_proj_bias());
  if (!o.need_weights()) return {out, Tensor()};
  weights = weights.view({batch, heads, l, s});
  return {out, o.average_attn_weights() ? weights.sum(1) / heads : weights};
}

}  // namespace functional

MultiheadAttentionImpl::MultiheadAttentionImpl(
    const MultiheadAttentionOptions& given)
    : Cloneable(std::string("torch::nn::MultiheadAttention")), options(given) {
  MultiheadAttentionImpl::reset();
}

void MultiheadAttentionImpl::reset() {
  const int64_t size = options.embed_dim();
  _qkv_same_embed_dim = options.kdim() == size && options.vdim() == size;
  head_dim = size / options.num_heads();
  TORCH_CHECK(head_dim * options.num_heads() == size,
              "embed_dim must be divisible by num_heads");
  const auto add = [&](const char* name, bool there, at::IntArrayRef sizes) {
    return register_parameter(name, there ? torch::empty(sizes) : Tensor(),
                              there);
  };
  const bool same = _qkv_same_embed_dim;
  in_proj_weight = add("in_proj_weight", same, {3 * size, size});
  q_proj_weight = add("q_proj_weight", !same, {size, size});
  k_proj_weight = add("k_proj_weight", !same, {size, options.kdim()});
  v_proj_weight = add("v_proj_weight", !same, {size, options.vdim()});
  in_proj_bias = add("in_proj_bias", options.bias(), {3 * size});
  out_proj = register_module(
      "out_proj", Linear(LinearOptions(size, size).bias(options.bias())));
  bias_k = add("bias_k", options.add_bias_kv(), {1, 1, size});
  bias_v = add("bias_v", options.add_bias_kv(), {1, 1, size});
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (const Tensor& weight :
       {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight})
    if (weight.defined()) init::xavier_uniform_(weight);
  if (in_proj_bias.defined()) {
    init::constant_(in_proj_bias, 0.);
    init::constant_(out_proj->bias, 0.);
  }
  for (const Tensor& bias : {bias_k, bias_v})
    if (bias.defined()) init::xavier_normal_(bias);
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& key_padding_mask, bool need_weights, const Tensor& attn_mask,
    bool average_attn_weights) {
  functional::MultiheadAttentionForwardFuncOptions given(
      options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias,
      bias_k, bias_v, options.add_zero_attn(), options.dropout(),
      out_proj->weight, out_proj->bias);
  given.training(is_training())
      .key_padding_mask(key_padding_mask)
      .need_weights(need_weights)
      .attn_mask(attn_mask)
      .use_separate_proj_weight(!_qkv_same_embed_dim)
      .q_proj_weight(q_proj_weight)
      .k_proj_weight(k_proj_weight)
      .v_proj_weight(v_proj_weight)
      .average_attn_weights(average_attn_weights);
  return functional::multi_head_attention_forward(query, key, value, given);
}

}  // namespace torch::nn
