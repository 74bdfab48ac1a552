#include "hotaru/ops/attention/fused.h"

#include <algorithm>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/attention/attention.h"
#include "hotaru/backend/common/attention/pays.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/ops/attention/composed.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;

const Kernel& attention_kernel() {
  static const Kernel& k = kernel("attention");
  return k;
}

/// All but the last two or three dimensions alike.
bool same_outside(const Tensor& a, const Tensor& b, int64_t inner) {
  if (a.dim() != b.dim()) return false;
  const auto n = size_t(std::max<int64_t>(a.dim() - inner, 0));
  return std::ranges::equal(a.sizes().first(n), b.sizes().first(n));
}

bool heads_fit(const Tensor& query, const Tensor& key, bool grouped) {
  if (!grouped) return same_outside(query, key, 2);
  return query.dim() >= 3 && same_outside(query, key, 3) && key.size(-3) > 0 &&
         query.size(-3) % key.size(-3) == 0;
}

/// True if t broadcasts to scores without making them larger.
bool broadcasts(const Tensor& t, const Tensor& query, const Tensor& key) {
  if (t.dim() > query.dim()) return false;
  for (int64_t d = -1; d >= -t.dim(); --d) {
    const int64_t size = d == -1 ? key.size(-2) : query.size(d);
    if (t.size(d) != 1 && t.size(d) != size) return false;
  }
  return true;
}

/// Leading dimensions of 1, up to four; rows in one piece.
Tensor four_dims(const Tensor& t) {
  Tensor x = t;
  while (x.dim() < 4) x = unsqueeze(x, 0);
  return x;
}
Tensor rows(const Tensor& t) {
  return t.stride(-1) == 1 || t.size(-1) <= 1 ? t : contiguous(t);
}

/// Uninitialised [B, H, L, width]: where heads lie inside of rows in `like`,
/// they do here, so that joining them needs no copy.
Tensor heads_like(const Tensor& like, int64_t width) {
  const int64_t h = like.size(1), l = like.size(2);
  const Dims size{like.size(0), h, l, width};
  if (h > 1 && l > 1 && like.stride(1) < like.stride(2))
    return allocate(size, Dims{l * h * width, width, h * width, 1},
                    like.dtype(), like.device());
  return allocate(size, like.dtype(), like.device());
}

/// The operands as the kernels take them.
struct FourDims {
  FourDims(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& m)
      : query(rows(four_dims(q))),
        key(rows(four_dims(k))),
        value(rows(four_dims(v))),
        mask(m) {
    if (m.defined())
      mask = expand(
          m, Dims{query.size(0), query.size(1), query.size(2), key.size(2)});
  }
  Tensor query, key, value, mask;
};

Tensor shaped_like(const Tensor& out, const Tensor& query,
                   const Tensor& value) {
  if (query.dim() == 4) return out;
  Dims size(query.sizes());
  size.back() = value.size(-1);
  return reshape(out, size);
}

Tensors run_gradient(const Backward& b, const Tensor& grad,
                     const AttentionAttributes& a) {
  static const Kernel& run = kernel("attention_grad");
  const Tensor query = b.saved(0), key = b.saved(1), value = b.saved(2),
               mask = b.saved(3), out = b.saved(4), lse = b.saved(5);
  const auto wanted = [&](size_t i, const Tensor& t) {
    return b.needs(i) ? heads_like(t, t.size(3)) : Tensor();
  };
  const Tensor g = rows(grad), dq = wanted(0, query), dk = wanted(1, key),
               dv = wanted(2, value);
  enqueue(run,
          {read(g), read(out), read(lse), read(query), read(key), read(value),
           read(mask), write(dq), write(dk), write(dv)},
          a);
  return {dq, dk, dv};
}

/// Runs the kernels on tensors as they take them.
Tensor run(const Tensor& query, const Tensor& key, const Tensor& value,
           const Tensor& mask, const AttentionOptions& options) {
  const AttentionAttributes a{float(attention_scale(query, options)),
                              options.causal};
  const Tensor out = heads_like(query, value.size(3));
  Tensor lse;
  if (!query.device().is_cpu())
    lse = allocate(Dims{query.size(0), query.size(1), query.size(2)},
                   DType::kFloat32, query.device());
  enqueue(
      attention_kernel(),
      {write(out), write(lse), read(query), read(key), read(value), read(mask)},
      a);
  if (!autograd::needs_grad(query, key, value)) return out;
  autograd::record(
      query.device().is_cpu() ? "ScaledDotProductFlashAttentionForCpuBackward0"
                              : "ScaledDotProductFlashAttentionBackward0",
      out, {query, key, value},
      {query, key, value, mask, autograd::saved_output(out), lse},
      [a, options](Backward& b, const Tensor& g) -> Tensors {
        if (!autograd::grad_enabled()) return run_gradient(b, g, a);
        return composed_attention_grad(g, b.saved(0), b.saved(1), b.saved(2),
                                       b.saved(3), options);
      });
  return out;
}

}  // namespace

bool has_fused_attention(const Tensor& query, const Tensor& key,
                         const Tensor& value) {
  if (!attention_kernel().has(query.device().type)) return false;
  if (!query.device().is_cpu()) return true;
  const bool many = query.size(-1) > 0 && value.size(-1) > 0 &&
                    query.size(-2) * key.size(-2) >= kScoresOfAttention;
  if (!many || autograd::dual_level_open()) return false;
  const DType dtype = query.dtype();
  if (autograd::needs_grad(query, key, value))
    return dtype == DType::kFloat32 || dtype == DType::kBFloat16;
  return (dtype == DType::kFloat32 && !allows_bf16(Bf16::kMatmul)) ||
         dtype == DType::kBFloat16;
}

std::string fused_refusal(const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& mask,
                          const AttentionOptions& options) {
  const DType dtype = query.dtype();
  if (dtype != DType::kFloat32 && dtype != DType::kFloat16 &&
      dtype != DType::kBFloat16)
    return concat(
        "Expected query, key and value to all be of dtype: {Half, "
        "BFloat16, Float}. Got Query dtype: ",
        scalar_type_name(dtype), ".");
  if (options.dropout > 0) return "The kernels have no dropout.";
  if (query.dim() > 4) return "The kernels take at most 4 dimensions.";
  if (!heads_fit(query, key, options.grouped_heads) ||
      !same_outside(key, value, 2))
    return "Query, key and value have to have the same batch size and heads; "
           "with enable_gqa, query may have a multiple of the heads.";
  if (query.size(-1) != key.size(-1) || key.size(-2) != value.size(-2))
    return "Key has to have rows as long as query's, and as many as value.";
  if (std::max(query.size(-1), value.size(-1)) > kMostAttentionWidth)
    return concat("Rows of query, key and value may have at most ",
                  kMostAttentionWidth, " elements.");
  if (!mask.defined()) return {};
  if (autograd::needs_grad(mask)) return "The mask wants a gradient.";
  if (!broadcasts(mask, query, key))
    return "The mask does not broadcast to the scores.";
  return {};
}

bool is_token_attention(const Tensor& query, const Tensor& key,
                        const Tensor& value, const Tensor& mask,
                        const AttentionOptions& options) {
  static const Kernel& token = kernel("attention_token");
  return query.size(-2) == 1 && !options.causal &&
         token.has(query.device().type) &&
         !autograd::needs_grad(query, key, value) &&
         fused_refusal(query, key, value, mask, options).empty();
}

Tensor token_attention(const Tensor& query, const Tensor& key,
                       const Tensor& value, const Tensor& mask,
                       const AttentionOptions& options) {
  static const Kernel& token = kernel("attention_token");
  const FourDims all(query, key, value, mask);
  const Tensor out = heads_like(all.query, all.value.size(3));
  enqueue(token,
          {write(out), read(all.query), read(all.key), read(all.value),
           read(all.mask)},
          AttentionAttributes{float(attention_scale(query, options)), false});
  return shaped_like(out, query, value);
}

Tensor fused_attention(const Tensor& query, const Tensor& key,
                       const Tensor& value, const Tensor& mask,
                       const AttentionOptions& options) {
  const FourDims all(query, key, value, mask);
  const Tensor out = run(all.query, all.key, all.value, all.mask, options);
  return shaped_like(out, query, value);
}

}  // namespace hotaru
