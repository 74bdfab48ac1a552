// Attention by blocks of rows, whose scores stay in the second-level cache.
#include "hotaru/backend/common/attention/softmax_product.h"

#include <algorithm>

#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/attention/exp_rows.h"
#include "hotaru/backend/cpu/matmul/gemm_bf16.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

using detail::divide_up;

// Scores that are in memory at a time, as far as rows of tiles allow.
constexpr int64_t kScores = 48 * 1024;

// Scores begin in lines of a cache.
constexpr int64_t kLine = 16;

/// A factor in the order in which products read it, for all blocks of rows.
class PackedFactor {
 public:
  PackedFactor(int64_t k, int64_t n, bool bf16, ScratchUse use)
      : k_(k), n_(n), bf16_(bf16), use_(use) {}

  void pack(const float* data, const MatrixStrides& s) {
    const MatrixRef<float> matrix{data, s.row, s.column};
    if (bf16_)
      pairs_ = pack_bf16(k_, n_, matrix,
                         scratch<BFloat16>(use_, packed_size(k_, n_, 2)));
    else
      floats_ = pack_matrix(k_, n_, matrix,
                            scratch<float>(use_, packed_size(k_, n_, 4)));
  }

  /// c = alpha * a times the factor.
  void multiply(int64_t m, float alpha, MatrixRef<float> a, float* c,
                int64_t ldc, const Epilogue<float>& epilogue = {}) const {
    if (bf16_)
      gemm_bf16(m, alpha, a, pairs_, 0, c, ldc, epilogue);
    else
      gemm(m, alpha, a, floats_, 0.0f, c, ldc, epilogue);
  }

  bool is_bf16() const { return bf16_; }
  /// c = rows of bfloat16, as long as pairs need, times the factor.
  void multiply(int64_t m, const BFloat16* rows, float* c, int64_t ldc) const {
    PackedRef<BFloat16> whole = pairs_;
    whole.k = row_length();
    gemm_bf16(m, 1, MatrixRef<BFloat16>{rows, whole.k, 1}, whole, 0, c, ldc);
  }
  int64_t row_length() const { return 2 * bf16_pairs(k_); }

 private:
  int64_t k_, n_;
  bool bf16_;
  ScratchUse use_;
  PackedRef<BFloat16> pairs_{};
  PackedRef<float> floats_{};
};

/// Where the mask's matrix for product i of the batch begins.
int64_t mask_offset(const SoftmaxProductAttributes& g, int64_t i) {
  int64_t offset = 0;
  for (size_t d = g.lead.size(); d-- > 0; i /= g.lead[d])
    offset += i % g.lead[d] * g.mask_lead[d];
  return offset;
}

/// Blocks of rows; with which of its products rounded.
void by_blocks(const KernelCall& call, bool bf16_scores, bool bf16_values) {
  const auto& g = call.attributes<SoftmaxProductAttributes>();
  float* const out = call.tensor(0).data<float>();
  const float *a = call.tensor(1).data<float>(),
              *b = call.tensor(2).data<float>();
  const Tensor &scale = call.tensor(3), &mask = call.tensor(4);
  const float* v = call.tensor(5).data<float>();
  const float alpha =
      g.alpha.to<float>() * (scale.defined() ? *scale.data<float>() : 1.0f);
  const float* const masks = mask.defined() ? mask.data<float>() : nullptr;

  const int64_t tile = gemm_kernels<float>().max_rows;
  const int64_t most = std::max(tile, kScores / g.n / tile * tile);
  const int64_t blocks = divide_up(g.m, std::min(most, g.m));
  const int64_t most_rows = divide_up(g.m, blocks);
  const int64_t work = most_rows * g.n * (g.k + g.width);
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 18) / work);
  parallel_for(0, g.batch * blocks, grain, [&](int64_t begin, int64_t end) {
    PackedFactor keys(g.k, g.n, bf16_scores, ScratchUse::kAttentionKeys);
    PackedFactor values(g.n, g.width, bf16_values,
                        ScratchUse::kAttentionValues);
    const int64_t length = divide_up(g.n, kLine) * kLine;
    float* const scores =
        scratch<float>(ScratchUse::kAttentionScores, most_rows * (length + 1));
    float* const factors = scores + most_rows * length;
    int64_t packed = -1;
    for (int64_t at = begin; at < end; ++at) {
      const int64_t i = at / blocks, block = at % blocks;
      if (i != packed) {
        keys.pack(b + i * g.b.batch, g.b);
        values.pack(v + i * g.v.batch, g.v);
        packed = i;
      }
      const int64_t first = block * g.m / blocks;
      const int64_t rows = (block + 1) * g.m / blocks - first;
      Epilogue<float> add;
      if (masks) {
        add.residual = masks + mask_offset(g, i) + first * g.mask_row;
        add.residual_stride = g.mask_row;
      }
      keys.multiply(rows, alpha,
                    {a + i * g.a.batch + first * g.a.row, g.a.row, g.a.column},
                    scores, length, add);
      float* const to = out + i * g.out_batch + first * g.out_row;
      if (values.is_bf16()) {
        const int64_t stride = values.row_length();
        auto* const rounded =
            scratch<BFloat16>(ScratchUse::kAttention, most_rows * stride);
        exp_rows(scores, length, rounded, stride, rows, g.n, factors);
        values.multiply(rows, rounded, to, g.out_row);
      } else {
        exp_rows(scores, length, rows, g.n, factors);
        values.multiply(rows, 1, {scores, length, 1}, to, g.out_row);
      }
      scale_rows(to, g.out_row, rows, g.width, factors);
    }
  });
}

/// Which products may be rounded, and of which it pays.
const SoftmaxProductAttributes& sizes(const KernelCall& call) {
  return call.attributes<SoftmaxProductAttributes>();
}
bool may_round_scores(const KernelCall& call) {
  return sizes(call).bf16_scores;
}
bool may_round_values(const KernelCall& call) {
  return sizes(call).bf16_values;
}
bool pays_for_scores(const KernelCall& call) {
  return pays_to_round(sizes(call).m, sizes(call).n);
}
bool pays_for_values(const KernelCall& call) {
  return pays_to_round(sizes(call).m, sizes(call).width);
}

constexpr auto kSoftmaxProductWays = std::to_array<Way<KernelCall>>({
    {"pairs", "both products rounded to bfloat16, two numbers at a time",
     "products that may be rounded",
     [](const KernelCall& c) {
       return may_round_scores(c) && may_round_values(c);
     },
     "instructions for products of pairs; 32 rows, keys and columns of values",
     [](const KernelCall& c) {
       return pays_for_scores(c) && pays_for_values(c);
     },
     [](const KernelCall& c) { by_blocks(c, true, true); }},
    {"pair_scores", "the scores' product alone rounded",
     "scores that may be rounded", &may_round_scores,
     "instructions for products of pairs; 32 rows and keys", &pays_for_scores,
     [](const KernelCall& c) { by_blocks(c, true, false); }},
    {"pair_values", "the product with the values alone rounded",
     "values that may be rounded", &may_round_values,
     "instructions for products of pairs; 32 rows and columns of values",
     &pays_for_values, [](const KernelCall& c) { by_blocks(c, false, true); }},
    {"floats", "neither product rounded", "", nullptr, "", nullptr,
     [](const KernelCall& c) { by_blocks(c, false, false); }},
});

void softmax_product(const KernelCall& call) {
  run_first<kSoftmaxProductWays>(call);
}
[[gnu::cold]] WayAnswers explain_softmax_product(const KernelCall& call) {
  return explain<kSoftmaxProductWays>(call);
}

HOTARU_KERNEL(kCPU, "softmax_product", softmax_product);
const KernelWays product_ways(DeviceType::kCPU, "softmax_product",
                              explain_softmax_product);

}  // namespace
}  // namespace hotaru::cpu
