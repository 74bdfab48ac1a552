#include "hotaru/ops/attention/attention.h"

#include <cmath>
#include <limits>

#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

/// Each head of keys and values for as many heads of queries as share it.
Tensor share_heads(const Tensor& t, const Tensor& query) {
  HOTARU_CHECK(t.dim() >= 3 && query.dim() == t.dim() && t.size(-3) > 0 &&
                   query.size(-3) % t.size(-3) == 0,
               "Number of heads in key and value must divide the number of "
               "heads in query");
  const int64_t heads = t.size(-3), each = query.size(-3) / heads;
  if (each == 1) return t;
  Dims wide(t.sizes());
  wide.insert(wide.size() - 2, each);
  Dims size(t.sizes());
  size[size.size() - 3] = heads * each;
  return reshape(expand(unsqueeze(t, -3), wide), size);
}

/// softmax whose rows without a finite score are zero, in the result and in
/// every gradient.
Tensor masked_softmax(const Tensor& scores) {
  const Tensor empty = all(eq(scores, -kInfinity), Dims{-1}, true);
  return masked_fill(softmax(masked_fill(scores, empty, 0), -1), empty, 0);
}

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value,
              const Tensor& mask, const AttentionOptions& options) {
  const Tensor k = options.grouped_heads ? share_heads(key, query) : key;
  const Tensor v = options.grouped_heads ? share_heads(value, query) : value;
  const double scale = options.scale.value_or(
      1 / std::sqrt(double(std::max<int64_t>(query.size(-1), 1))));
  Tensor scores = matmul(query * scale, transpose(k, -2, -1));
  Tensor hidden;  // bool: what takes no part
  if (options.causal) {
    const TensorOptions options(DType::kInt64, query.device());
    const Tensor row = arange(0, query.size(-2), 1, options);
    const Tensor column = arange(0, key.size(-2), 1, options);
    hidden = lt(unsqueeze(row, 1), column);
  } else if (mask.defined() && mask.dtype() == DType::kBool) {
    hidden = logical_not(mask);
  } else if (mask.defined()) {
    scores = scores + mask;
  }
  if (hidden.defined()) scores = masked_fill(scores, hidden, -kInfinity);
  Tensor weights =
      mask.defined() ? masked_softmax(scores) : softmax(scores, -1);
  if (options.dropout > 0) weights = dropout(weights, options.dropout, true);
  return matmul(weights, v);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                    const Tensor& value, const Tensor& mask,
                                    const AttentionOptions& options) {
  check(query, key, value, mask, options.causal);
  if (itemsize(query.dtype()) != 2 || !query.is_floating_point())
    return attend(query, key, value, mask, options);
  // Large scores of 16 bits would choose among the keys by their rounding.
  const auto wide = [](const Tensor& t) { return to(t, DType::kFloat32); };
  const bool factor = mask.defined() && mask.dtype() != DType::kBool;
  return to(attend(wide(query), wide(key), wide(value),
                   factor ? wide(mask) : mask, options),
            query.dtype());
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
