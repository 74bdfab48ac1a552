#include "hotaru/ops/attention/composed.h"

#include <cmath>
#include <limits>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

/// The gradient of what was shared, from that of the copies.
Tensor join_heads(const Tensor& grad, const Tensor& shared) {
  const int64_t heads = shared.size(1);
  if (heads == grad.size(1)) return grad;
  return sum(reshape(grad, Dims{grad.size(0), heads, grad.size(1) / heads,
                                grad.size(2), grad.size(3)}),
             Dims{2});
}

/// softmax whose rows without a finite score are zero, in the result and in
/// every gradient.
Tensor masked_softmax(const Tensor& scores) {
  const Tensor empty = all(eq(scores, -kInfinity), Dims{-1}, true);
  return masked_fill(softmax(masked_fill(scores, empty, 0), -1), empty, 0);
}

/// Weights for keys whose heads are as many as query's.
Tensor weights_of(const Tensor& query, const Tensor& key, const Tensor& mask,
                  const AttentionOptions& options) {
  Tensor scores =
      matmul(query * attention_scale(query, options), transpose(key, -2, -1));
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
  return mask.defined() ? masked_softmax(scores) : softmax(scores, -1);
}

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value,
              const Tensor& mask, const AttentionOptions& options) {
  const Tensor k = options.grouped_heads ? share_heads(key, query) : key;
  const Tensor v = options.grouped_heads ? share_heads(value, query) : value;
  Tensor weights = weights_of(query, k, mask, options);
  if (options.dropout > 0) weights = dropout(weights, options.dropout, true);
  return matmul(weights, v);
}

/// Large scores of 16 bits would choose among the keys by their rounding.
bool needs_floats(const Tensor& query) {
  return itemsize(query.dtype()) == 2 && query.is_floating_point();
}
Tensor wide(const Tensor& t) {
  return !t.defined() || t.dtype() == DType::kBool ? t : to(t, DType::kFloat32);
}

}  // namespace

double attention_scale(const Tensor& query, const AttentionOptions& options) {
  return options.scale.value_or(
      1 / std::sqrt(double(std::max<int64_t>(query.size(-1), 1))));
}

Tensor composed_attention(const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& mask,
                          const AttentionOptions& options) {
  if (!needs_floats(query)) return attend(query, key, value, mask, options);
  return to(attend(wide(query), wide(key), wide(value), wide(mask), options),
            query.dtype());
}

Tensors composed_attention_grad(const Tensor& grad, const Tensor& query,
                                const Tensor& key, const Tensor& value,
                                const Tensor& mask,
                                const AttentionOptions& options) {
  if (needs_floats(query)) {
    Tensors grads = composed_attention_grad(wide(grad), wide(query), wide(key),
                                            wide(value), wide(mask), options);
    for (Tensor& g : grads) g = to(g, query.dtype());
    return grads;
  }
  const Tensor k = share_heads(key, query), v = share_heads(value, query);
  const Tensor weights = weights_of(query, k, mask, options);
  const Tensor slopes = matmul(grad, transpose(v, -2, -1));
  const Tensor delta = sum(weights * slopes, Dims{-1}, true);
  const Tensor scores_grad =
      weights * (slopes - delta) * attention_scale(query, options);
  const auto back = [](const Tensor& t) { return transpose(t, -2, -1); };
  return {matmul(scores_grad, k),
          join_heads(matmul(back(scores_grad), query), key),
          join_heads(matmul(back(weights), grad), value)};
}

}  // namespace hotaru
