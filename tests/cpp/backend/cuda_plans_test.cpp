// How products, softmax, normalisation and attention are shared among threads.
#include <gtest/gtest.h>

#include "hotaru/backend/cuda/params/attention.h"
#include "hotaru/backend/cuda/params/matmul.h"
#include "hotaru/backend/cuda/params/norm.h"
#include "hotaru/backend/cuda/params/scan.h"
#include "hotaru/backend/cuda/params/softmax.h"

namespace hotaru::cuda {
namespace {

TEST(CudaPlans, ProductsAreCovered) {
  for (const uint32_t m : {1u, 31u, 128u, 129u, 5000u})
    for (const uint32_t n : {1u, 64u, 130u, 4096u})
      for (const uint32_t k : {0u, 1u, 500u, 4096u, 100000u})
        for (const int64_t batch : {1, 7, 100000})
          for (const int64_t item : {2, 4, 8}) {
            MatmulParams p;
            p.m = m, p.n = n, p.k = k, p.batch = batch;
            plan_matmul(p, item, 132);
            const uint32_t side = p.large ? large_side(item) : kSmallSide;
            EXPECT_GE(p.tiles_m.divisor * side, m);
            EXPECT_LT((p.tiles_m.divisor - 1) * side, m);
            EXPECT_GE(p.tiles_n.divisor * side, n);
            EXPECT_GE(uint64_t{p.splits} * p.chunk, k);
            // No split is empty, and vectors of all but the last are whole.
            EXPECT_TRUE(p.splits == 1 || (p.splits - 1) * p.chunk < k);
            EXPECT_TRUE(p.splits == 1 || p.chunk % tile_depth(side) == 0);
          }
}

TEST(CudaPlans, FewRowsAreWorthTensorCores) {
  for (const uint32_t rows : {kLeastTensorSide, kLeastTensorSide + 1}) {
    MatmulParams p;
    p.m = rows, p.n = p.k = 4096;
    plan_matmul(p, 2, 132, true);
    EXPECT_EQ(p.tensor, rows > kLeastTensorSide);
    EXPECT_EQ(p.tensor, p.large);
    plan_matmul(p, 2, 132, false);
    EXPECT_FALSE(p.large);
  }
}

TEST(CudaPlans, ProductsUseTheWholeDevice) {
  MatmulParams p;
  p.m = p.n = p.k = 4096;
  plan_matmul(p, 4, 132);
  EXPECT_TRUE(p.large);
  EXPECT_EQ(p.splits, 1u);
  p.m = 64, p.n = 64, p.k = 65536;  // two tiles' worth of outputs
  plan_matmul(p, 4, 132);
  EXPECT_GE(matmul_tiles(p) * p.splits, 64);
}

TEST(CudaPlans, VectorsLieWell) {
  alignas(32) float memory[8];
  EXPECT_EQ(reading_of(memory, 0, 1, 8, 4), Reading::kAlongVectors);
  EXPECT_EQ(reading_of(memory, 0, 8, 1, 4), Reading::kOtherVectors);
  EXPECT_EQ(reading_of(memory + 1, 0, 1, 8, 4), Reading::kAlong);
  EXPECT_EQ(reading_of(memory, 0, 1, 7, 4), Reading::kAlong);
  EXPECT_EQ(reading_of(memory, 6, 7, 1, 4), Reading::kOther);
  EXPECT_EQ(reading_of(memory, 0, 2, 8, 4), Reading::kAlong);
}

TEST(CudaPlans, LinesHaveTheirThreads) {
  for (const uint32_t length : {1u, 8u, 9u, 300u, 4096u, 4097u, 1000000u})
    for (const uint32_t lines : {1u, 2u, 1000u}) {
      SoftmaxParams p;
      p.length = length, p.lines = lines;
      p.in_step = p.out_step = 4;
      p.others.add(lines, {4 * length, 4 * length, 0});
      plan_softmax(p, 4);
      EXPECT_FALSE(p.across && length > 1);
      EXPECT_GE(uint64_t{softmax_blocks(p)} * (kBlock / p.lanes), lines);
      EXPECT_TRUE(p.lanes == kBlock || p.lanes * kSoftmaxHeld >= length);
      // Columns: a warp's threads have neighbouring ones.
      SoftmaxParams q;
      q.length = length, q.lines = lines;
      q.in_step = q.out_step = 4 * lines;
      q.others.add(lines, {4, 4, 0});
      plan_softmax(q, 4);
      EXPECT_EQ(q.across, lines > 1 && length > 1);
      EXPECT_TRUE(!q.across || kBlock / q.lanes >= std::min(lines, 32u));
    }
}

TEST(CudaPlans, ChunksOfScansAreCountedIn32Bits) {
  for (const int64_t length : {int64_t{1}, int64_t{5000}, kMostElements - 1,
                               kMostElements, 5 * kMostElements + 3})
    for (const uint32_t lines : {1u, 100u, 100000u}) {
      ScanParams p;
      p.length = length, p.lines = lines;
      p.in_step = p.out_step = 1;
      const ScanPlan plan = plan_of(p, 132);
      EXPECT_GE(int64_t{plan.chunk} * plan.splits, length);
      EXPECT_LT(int64_t{plan.chunk} * (plan.splits - 1), length);
      EXPECT_LT(int64_t{plan.chunk}, kMostElements);
      EXPECT_LE(plan.splits, 65535u);
    }
}

TEST(CudaPlans, SumsOfWeightsAreCovered) {
  for (const uint32_t weights : {1u, 3u, 64u, 4096u})
    for (const uint32_t count : {0u, 1u, 77u, 8192u, 3000000u})
      for (const uint32_t inner : {1u, 49u}) {
        NormParams p;
        p.weights = weights, p.count = count;
        p.inner = Divider(inner);
        plan_weights(p, 132);
        EXPECT_GE(uint64_t{p.splits} * p.chunk, count);
        EXPECT_TRUE(p.splits == 1 || (p.splits - 1) * p.chunk < count);
        EXPECT_GE(weight_blocks(p) * (kBlock / p.lanes), weights);
        EXPECT_EQ(workspace_bytes(p) > 0, p.splits > 1);
      }
}

TEST(CudaPlans, AttentionOwnsEveryRowOnce) {
  for (const uint32_t rows : {0u, 1u, 63u, 64u, 65u, 128u, 129u, 100000u}) {
    for (const uint32_t owned : {kAttentionOwn, kAttentionTensorOwn}) {
      const int64_t blocks = attention_blocks(rows, 1, owned);
      EXPECT_GE(blocks * owned, rows);
      EXPECT_LT((blocks - 1) * int64_t{owned}, int64_t{rows});
      EXPECT_EQ(attention_blocks(rows, 12, owned), 12 * blocks);
    }
    AttentionParams p;
    p.batches = 2, p.heads = 3, p.queries = rows;
    EXPECT_GE(attention_delta_blocks(p) * (kBlock / 32), int64_t{6} * rows);
  }
}

TEST(CudaPlans, AttentionHasTheNarrowestKernel) {
  EXPECT_EQ(attention_width(0), 32u);
  EXPECT_EQ(attention_width(32), 32u);
  EXPECT_EQ(attention_width(33), 64u);
  EXPECT_EQ(attention_width(65), 128u);
  EXPECT_EQ(attention_width(129), 0u);
}

TEST(CudaPlans, TwoBlocksOfAttentionFitOnAProcessor) {
  // 228 KiB on sm_90, of which a block takes 1 KiB more than it asks for.
  constexpr uint32_t kProcessor = 228 << 10, kEach = 1 << 10;
  for (const uint32_t width : {32u, 64u, 128u}) {
    EXPECT_EQ(tile_pitch(width) % 4, 0u);  // rows begin at 16 bytes
    EXPECT_LE(2 * (attention_shared(width, kAttentionKeys) + kEach),
              kProcessor);
    EXPECT_LE(2 * (attention_grad_shared(width) + kEach), kProcessor);
    EXPECT_LE(
        2 * (attention_tensor_shared(width, attention_tensor_keys(width), 1) +
             kEach),
        kProcessor);
    EXPECT_LE(2 * (attention_tensor_shared(width, kAttentionTensorGradRows, 2) +
                   kEach),
              kProcessor);
  }
}

}  // namespace
}  // namespace hotaru::cuda
