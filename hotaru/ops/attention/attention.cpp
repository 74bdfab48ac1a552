#include "hotaru/ops/attention/attention.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/attention/attention_kinds.h"
#include "hotaru/ops/attention/composed.h"
#include "hotaru/ops/attention/fused.h"
#include "hotaru/ops/registry.h"

namespace hotaru {
namespace {

void check(const Tensor& query, const Tensor& key, const Tensor& value,
           const Tensor& mask, bool causal) {
  HOTARU_CHECK(query.dtype() == key.dtype() && query.dtype() == value.dtype(),
               "Expected query, key, and value to have the same dtype, but got "
               "query.dtype: ",
               cpp_type_name(query.dtype()),
               " key.dtype: ", cpp_type_name(key.dtype()),
               " and value.dtype: ", cpp_type_name(value.dtype()), " instead.");
  HOTARU_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
               "Expected query, key, and value to all be  at least 2 "
               "dimensional, but got query.dim: ",
               query.dim(), " key.dim: ", key.dim(),
               " and value.dim: ", value.dim(), " instead.");
  if (!mask.defined()) return;
  HOTARU_CHECK(mask.dtype() == DType::kBool || mask.dtype() == query.dtype() ||
                   mask.dtype() == DType::kFloat32,
               "Expected attn_mask dtype to be bool or float or to match query "
               "dtype, but got attn_mask.dtype: ",
               cpp_type_name(mask.dtype()),
               " and  query.dtype: ", cpp_type_name(query.dtype()),
               " instead.");
  HOTARU_CHECK(!causal,
               "_scaled_dot_product_attention: Explicit attn_mask should not "
               "be set when is_causal=True");
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                    const Tensor& value, const Tensor& mask,
                                    const AttentionOptions& options) {
  check(query, key, value, mask, options.causal);
  if (has_fused_attention(query, key, value) &&
      takes_fused_attention(fused_refusal(query, key, value, mask, options)))
    return fused_attention(query, key, value, mask, options);
  if (is_token_attention(query, key, value, mask, options))
    return token_attention(query, key, value, mask, options);
  return composed_attention(query, key, value, mask, options);
}

namespace {

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value,
                 const Tensor& mask, double dropout, bool causal,
                 Optional<double> scale, bool grouped_heads) {
  return scaled_dot_product_attention(query, key, value, mask,
                                      {dropout, causal, scale, grouped_heads});
}

}  // namespace

HOTARU_OP(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, "
    "float? scale=None, bool enable_gqa=False) -> Tensor",
    attention);

}  // namespace hotaru
