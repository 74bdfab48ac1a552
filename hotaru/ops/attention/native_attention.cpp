// Whole layers of attention in one call, as PyTorch's modules make it in
// evaluation mode.
#include <cmath>
#include <limits>
#include <tuple>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/attention/attention.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/norm/norm.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

void check(const Tensor& query, int64_t embed_dim, int64_t num_head,
           const Tensor& qkv_weight, const Tensor& qkv_bias) {
  HOTARU_CHECK(query.dim() == 3, "expected 3-D `query`, got ", query.dim(),
               "-D tensor");
  const int64_t width = query.size(2);
  HOTARU_CHECK(embed_dim == width, "passed-in embed_dim ", embed_dim,
               " didn't match last dim of query ", width);
  HOTARU_CHECK(num_head > 0 && embed_dim % num_head == 0,
               "`embed_dim` must divide evenly by `num_heads`");
  HOTARU_CHECK(qkv_weight.dim() == 2 && qkv_weight.size(0) == 3 * width,
               "expected `qkv_weight` first dim to be 3x embed_dim");
  HOTARU_CHECK(qkv_bias.dim() == 1 && qkv_bias.size(0) == 3 * width,
               "expected `qkv_bias` first dim and first dim of query to be "
               "equal");
}

/// (N, L, E) to (N, H, L, E / H).
Tensor by_heads(const Tensor& t, int64_t heads) {
  const Dims split{t.size(0), t.size(1), heads, t.size(2) / heads};
  return transpose(reshape(t, split), 1, 2);
}

/// A mask for scores (N, H, L, S): as it is, or of keys (N, S) if type is 1.
Tensor spread_mask(const Tensor& mask, Optional<int64_t> type) {
  HOTARU_CHECK(type.has_value(), "Mask Type should be defined");
  const Tensor hidden = to(mask, DType::kBool);
  if (*type != 1) return hidden;
  return reshape(hidden, Dims{hidden.size(0), 1, 1, hidden.size(-1)});
}

struct Attention {
  Tensor output;   // (N, L, E)
  Tensor weights;  // (N, H, L, S)
};

/// Parts that multi-head attention is made of, in one type.
struct Projections {
  const Tensor& qkv_weight;
  const Tensor& qkv_bias;
  const Tensor& proj_weight;
  const Tensor& proj_bias;
};

/// Weights are left out where nobody wants them and no mask hides anything.
Attention attend(const Tensor& query, const Tensor& key, const Tensor& value,
                 int64_t heads, const Projections& maps, const Tensor& mask,
                 Optional<int64_t> mask_type, bool need_weights) {
  const Tensors weight = chunk(maps.qkv_weight, 3);
  const Tensors bias = chunk(maps.qkv_bias, 3);
  const Tensor q = by_heads(linear(query, weight[0], bias[0]), heads);
  const Tensor k = by_heads(linear(key, weight[1], bias[1]), heads);
  const Tensor v = by_heads(linear(value, weight[2], bias[2]), heads);
  const auto project = [&](const Tensor& t) {
    return linear(flatten(transpose(t, 1, 2), 2), maps.proj_weight,
                  maps.proj_bias);
  };
  if (!mask.defined() && !need_weights)
    return {project(scaled_dot_product_attention(q, k, v)), {}};
  const double scale = 1 / std::sqrt(double(q.size(-1)));
  Tensor scores = matmul(q * scale, transpose(k, -2, -1));
  if (mask.defined()) {
    scores = masked_fill(scores, spread_mask(mask, mask_type),
                         -std::numeric_limits<double>::infinity());
  }
  const Tensor weights = softmax(scores, -1);
  return {project(matmul(weights, v)), weights};
}

std::tuple<Tensor, Tensor> multi_head_attention(
    const Tensor& query, const Tensor& key, const Tensor& value,
    int64_t embed_dim, int64_t num_head, const Tensor& qkv_weight,
    const Tensor& qkv_bias, const Tensor& proj_weight, const Tensor& proj_bias,
    const Tensor& mask, bool need_weights, bool average_attn_weights,
    Optional<int64_t> mask_type) {
  check(query, embed_dim, num_head, qkv_weight, qkv_bias);
  const Attention made = attend(query, key, value, num_head,
                                {qkv_weight, qkv_bias, proj_weight, proj_bias},
                                mask, mask_type, need_weights);
  if (!need_weights) return {made.output, Tensor()};
  return {made.output,
          average_attn_weights ? mean(made.weights, Dims{1}) : made.weights};
}

Tensor encoder_layer(const Tensor& src, int64_t embed_dim, int64_t num_heads,
                     const Tensor& qkv_weight, const Tensor& qkv_bias,
                     const Tensor& proj_weight, const Tensor& proj_bias,
                     bool use_gelu, bool norm_first, double eps,
                     const Tensor& norm_weight_1, const Tensor& norm_bias_1,
                     const Tensor& norm_weight_2, const Tensor& norm_bias_2,
                     const Tensor& ffn_weight_1, const Tensor& ffn_bias_1,
                     const Tensor& ffn_weight_2, const Tensor& ffn_bias_2,
                     const Tensor& mask, Optional<int64_t> mask_type) {
  check(src, embed_dim, num_heads, qkv_weight, qkv_bias);
  const Dims width{embed_dim};
  const auto norm_1 = [&](const Tensor& x) {
    return layer_norm(x, width, norm_weight_1, norm_bias_1, eps);
  };
  const auto norm_2 = [&](const Tensor& x) {
    return layer_norm(x, width, norm_weight_2, norm_bias_2, eps);
  };
  const auto attention = [&](const Tensor& x) {
    return attend(x, x, x, num_heads,
                  {qkv_weight, qkv_bias, proj_weight, proj_bias}, mask,
                  mask_type, false)
        .output;
  };
  const auto feed_forward = [&](const Tensor& x) {
    const Tensor hidden = linear(x, ffn_weight_1, ffn_bias_1);
    return linear(use_gelu ? gelu(hidden) : relu(hidden), ffn_weight_2,
                  ffn_bias_2);
  };
  if (norm_first) {
    const Tensor x = src + attention(norm_1(src));
    return x + feed_forward(norm_2(x));
  }
  const Tensor x = norm_1(src + attention(src));
  return norm_2(x + feed_forward(x));
}

}  // namespace

HOTARU_OP(
    "_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int "
    "embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor "
    "proj_weight, Tensor proj_bias, Tensor? mask=None, bool need_weights=True, "
    "bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
    multi_head_attention);
HOTARU_OP(
    "_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, "
    "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, "
    "bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, Tensor "
    "norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor "
    "ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, "
    "Tensor? mask=None, int? mask_type=None) -> Tensor",
    encoder_layer);

}  // namespace hotaru
