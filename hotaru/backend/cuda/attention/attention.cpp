// Launching fused attention; see params/attention.h.
#include "hotaru/backend/common/attention/attention.h"

#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/attention/launch.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

using FusedTypes = TypeList<float, Half, BFloat16>;
constexpr KernelTypes<FusedTypes> kTypes{0, "attention"};
constexpr KernelTypes<FusedTypes> kGradTypes{0, "attention_grad"};

static_assert(attention_width(kMostAttentionWidth) != 0 &&
              attention_width(kMostAttentionWidth + 1) == 0);

/// A kernel's functions for each width.
struct WidthFunctions {
  Functions short_rows, middle_rows, long_rows;
  const Function& of(uint32_t width, DType dtype) const {
    const Functions& f = width == 32   ? short_rows
                         : width == 64 ? middle_rows
                                       : long_rows;
    return f.of(dtype);
  }
};
/// The kernels of one kind, and how much they take at a time.
struct Kernels {
  WidthFunctions forward, query, keys;
  uint32_t owned;
  uint32_t (*shared)(uint32_t width);
  uint32_t (*grad_shared)(uint32_t width);
};

constinit const Kernels float_kernels{
    {Functions("Attention32"), Functions("Attention64"),
     Functions("Attention128")},
    {Functions("AttentionQuery32"), Functions("AttentionQuery64"),
     Functions("AttentionQuery128")},
    {Functions("AttentionKeys32"), Functions("AttentionKeys64"),
     Functions("AttentionKeys128")},
    kAttentionOwn,
    [](uint32_t width) { return attention_shared(width, kAttentionKeys); },
    attention_grad_shared};
constinit const Kernels tensor_kernels{
    {Functions("AttentionTensor32"), Functions("AttentionTensor64"),
     Functions("AttentionTensor128")},
    {Functions("AttentionTensorQuery32"), Functions("AttentionTensorQuery64"),
     Functions("AttentionTensorQuery128")},
    {Functions("AttentionTensorKeys32"), Functions("AttentionTensorKeys64"),
     Functions("AttentionTensorKeys128")},
    kAttentionTensorOwn,
    [](uint32_t width) {
      return attention_tensor_shared(width, attention_tensor_keys(width), 1);
    },
    [](uint32_t width) {
      return attention_tensor_shared(width, kAttentionTensorGradRows, 2);
    }};
constinit const Functions delta_functions("AttentionDelta");

AttentionRows rows_of(const Tensor& t) {
  AttentionRows r;
  if (!t.defined() || t.numel() == 0) return r;
  r.data = device_address(t);
  r.batch = t.stride(0);
  r.head = t.stride(1);
  r.row = t.stride(2);
  const auto address = reinterpret_cast<uintptr_t>(r.data);
  const int64_t steps = r.batch | r.head | r.row;
  r.vectors = address % (4 * itemsize(t.dtype())) == 0 && steps % 4 == 0;
  r.chunks = address % 16 == 0 && steps % 8 == 0 && itemsize(t.dtype()) == 2;
  return r;
}

void set_mask(AttentionParams& p, const Tensor& mask, DType dtype) {
  if (!mask.defined() || mask.numel() == 0) return;
  p.mask = device_address(mask);
  p.mask_batch = mask.stride(0);
  p.mask_head = mask.stride(1);
  p.mask_row = mask.stride(2);
  p.mask_key = mask.stride(3);
  p.mask_kind = mask.dtype() == DType::kBool ? AttentionMask::kBool
                : mask.dtype() == dtype      ? AttentionMask::kElements
                                             : AttentionMask::kFloats;
}

/// Parameters of both directions; operands: query, key, value, mask from
/// `first` on.
AttentionParams params_of(const KernelCall& call, size_t first) {
  const Tensor &query = call.tensor(first), &key = call.tensor(first + 1),
               &value = call.tensor(first + 2);
  HOTARU_CHECK(std::max({query.size(0) * query.size(1), query.size(2),
                         key.size(2)}) < kMostElements - kAttentionOwn,
               "attention over 2^31 rows and more is not implemented for CUDA "
               "yet");
  AttentionParams p;
  p.query = rows_of(query);
  p.key = rows_of(key);
  p.value = rows_of(value);
  set_mask(p, call.tensor(first + 3), query.dtype());
  p.batches = uint32_t(query.size(0));
  p.heads = uint32_t(query.size(1));
  p.queries = uint32_t(query.size(2));
  p.keys = uint32_t(key.size(2));
  p.group = key.size(1) > 0 ? uint32_t(query.size(1) / key.size(1)) : 1;
  p.key_width = uint32_t(query.size(3));
  p.value_width = uint32_t(value.size(3));
  const auto& a = call.attributes<AttentionAttributes>();
  p.scale = a.scale;
  p.causal = a.causal;
  return p;
}

uint32_t width_of(const AttentionParams& p) {
  return attention_width(std::max(p.key_width, p.value_width));
}

/// Kernels for tensor cores where operands are read as chunks; `grad` is not
/// read forwards.
const Kernels& kernels_for(const AttentionParams& p) {
  const bool chunks = p.query.chunks && p.key.chunks && p.value.chunks &&
                      (p.grad.chunks || !p.grad.data);
  return chunks ? tensor_kernels : float_kernels;
}

Grid grid_of(const AttentionParams& p, uint32_t rows, uint32_t heads,
             uint32_t owned) {
  const int64_t blocks = attention_blocks(rows, heads, owned) * p.batches;
  HOTARU_CHECK(blocks < kMostElements,
               "attention over so many rows is not implemented for CUDA yet");
  return {unsigned(blocks)};
}

void run_attention(const KernelCall& call) {
  check_types<kTypes>(call);
  if (call.tensor(1).numel() == 0) return;
  const AttentionLaunch l = attention_launch(call);
  const Kernels& kernels = l.tensor_cores ? tensor_kernels : float_kernels;
  launch(kernels.forward.of(l.width, call.tensor(0).dtype()), l.grid, kBlock,
         l.params, l.shared);
}

void run_attention_grad(const KernelCall& call) {
  check_types<kGradTypes>(call);
  const Tensor &grad = call.tensor(0), &out = call.tensor(1),
               &lse = call.tensor(2);
  AttentionParams p = params_of(call, 3);
  p.grad = rows_of(grad);
  p.out = rows_of(out);
  if (lse.numel() > 0) p.lse = static_cast<float*>(device_address(lse));
  p.query_grad = rows_of(call.tensor(7));
  p.key_grad = rows_of(call.tensor(8));
  p.value_grad = rows_of(call.tensor(9));
  const Workspace delta(size_t(std::max<int64_t>(lse.numel(), 1)) *
                        sizeof(float));
  p.delta = static_cast<float*>(delta.data());
  launch(delta_functions.of(grad.dtype()),
         {unsigned(attention_delta_blocks(p))}, kBlock, p);
  const Kernels& kernels = kernels_for(p);
  const uint32_t width = width_of(p), shared = kernels.grad_shared(width);
  if (p.query_grad.data)
    launch(kernels.query.of(width, grad.dtype()),
           grid_of(p, p.queries, p.heads, kernels.owned), kBlock, p, shared);
  if (p.key_grad.data || p.value_grad.data)
    launch(kernels.keys.of(width, grad.dtype()),
           grid_of(p, p.keys, p.heads / p.group, kernels.owned), kBlock, p,
           shared);
}

HOTARU_KERNEL(kCUDA, "attention", run_attention, check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "attention_grad", run_attention_grad,
              check_types<kGradTypes>);

}  // namespace

AttentionLaunch attention_launch(const KernelCall& call) {
  AttentionLaunch l;
  AttentionParams& p = l.params;
  p = params_of(call, 2);
  p.out = rows_of(call.tensor(0));
  p.lse = static_cast<float*>(device_address(call.tensor(1)));
  const Kernels& kernels = kernels_for(p);
  l.tensor_cores = &kernels == &tensor_kernels;
  l.width = width_of(p);
  l.grid = grid_of(p, p.queries, p.heads, kernels.owned);
  l.shared = kernels.shared(l.width);
  return l;
}

}  // namespace hotaru::cuda
