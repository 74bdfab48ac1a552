// Work of the host for CUDA's kernels, for which it needs no device.
#include <gtest/gtest.h>

#include <random>

#include "hotaru/backend/cuda/params/create.h"
#include "hotaru/backend/cuda/params/pointwise.h"
#include "hotaru/backend/cuda/params/reduce.h"
#include "hotaru/backend/cuda/params/scan.h"

namespace hotaru::cuda {
namespace {

TEST(CudaParams, DividerDivides) {
  std::mt19937 random(1);
  for (uint32_t d : {1u, 2u, 3u, 7u, 641u, 65536u, 1000003u, 0x7fffffffu}) {
    const Divider divider(d);
    for (int i = 0; i < 1000; ++i) {
      const uint32_t n = random() & 0x7fffffff;
      ASSERT_EQ(divider.divide(n), n / d) << n << " / " << d;
    }
    for (uint32_t n : {0u, d - 1, d, 0x7fffffffu})
      ASSERT_EQ(divider.divide(n), n / d) << n << " / " << d;
  }
}

TEST(CudaParams, IndexMergesAndFinds) {
  Index<2> index;
  EXPECT_TRUE(index.add(4, {8, 8}));
  EXPECT_TRUE(index.add(1, {999, 999}));
  EXPECT_TRUE(index.add(3, {32, 0}));
  EXPECT_TRUE(index.add(5, {96, 0}));
  EXPECT_EQ(index.dims, 2);  // 4, 3 * 5
  uint32_t i[] = {0, 59, 6};
  int64_t at[3][2];
  index.find(i, at);
  EXPECT_EQ(at[0][0], 0);
  EXPECT_EQ(at[1][0], 59 * 8);
  EXPECT_EQ(at[1][1], 3 * 8);
  EXPECT_EQ(at[2][0], 6 * 8);
  EXPECT_EQ(at[2][1], 2 * 8);
  for (int d = 2; d < 16; ++d) EXPECT_TRUE(index.add(2, {1000 * (d + 7), 1}));
  EXPECT_FALSE(index.add(2, {1, 1}));
}

TEST(CudaParams, RowsNeedAlignedVectors) {
  alignas(16) static char data[4096];
  StridedPointwiseParams p;
  p.pointwise.out = data;
  p.pointwise.in[0] = data;
  p.pointwise.in[1] = data + 4;  // one a row: may lie anywhere
  p.pointwise.numel = 16 * 3;
  p.index.add(16, {4, 4, 0, 0});
  p.index.add(3, {128, 64, 4, 0});
  StridedPointwiseParams rows = p;
  EXPECT_TRUE(to_rows(rows, 2, 4, 4));
  EXPECT_EQ(rows.pointwise.numel, 12u);
  EXPECT_EQ(rows.index.sizes[0].divisor, 4u);
  EXPECT_EQ(rows.index.strides[0][0], 16);
  rows = p;
  rows.pointwise.in[0] = data + 4;
  EXPECT_FALSE(to_rows(rows, 2, 4, 4));
  rows = p;
  rows.index.strides[1][1] = 68;
  EXPECT_FALSE(to_rows(rows, 2, 4, 4));
}

/// A matrix of floats, reduced along its rows or down its columns.
ReduceParams matrix(uint32_t rows, uint32_t cols, bool along) {
  ReduceParams p;
  p.outputs = along ? rows : cols;
  p.reduced = along ? cols : rows;
  const int64_t row = int64_t{cols} * 4;
  if (along) {
    p.kept.add(rows, {row, 4, 8});
    p.gone.add(cols, {4});
  } else {
    p.kept.add(cols, {4, 4, 8});
    p.gone.add(rows, {row});
  }
  plan_reduce(p, 4, 132);
  return p;
}

TEST(CudaParams, PlansOfReductionsCoverEveryElement) {
  for (uint32_t rows : {1u, 3u, 1000u, 100000u})
    for (uint32_t cols : {0u, 1u, 5u, 64u, 1001u, 1u << 20})
      for (bool along : {false, true}) {
        const ReduceParams p = matrix(rows, cols, along);
        const ReducePlan& plan = p.plan;
        EXPECT_EQ(plan.lanes & (plan.lanes - 1), 0u);
        EXPECT_LE(plan.lanes, kBlock);
        EXPECT_GE(int64_t{plan.chunk} * plan.splits, p.reduced);
        EXPECT_LT(int64_t{plan.chunk} * (plan.splits - 1),
                  std::max(p.reduced, 1u));
        EXPECT_GE(int64_t{reduce_blocks(p)} * outputs_of_block(plan),
                  p.outputs);
        EXPECT_LE(workspace_bytes(p, p.plan.splits), 64 << 20);
      }
  EXPECT_TRUE(matrix(100, 64, true).plan.vectors);
  EXPECT_FALSE(matrix(100, 63, true).plan.vectors);
  EXPECT_TRUE(matrix(100, 64, false).plan.across);
  EXPECT_GT(matrix(1, 1 << 24, true).plan.splits, 132u);
}

TEST(CudaParams, PlansOfScansCoverEveryElement) {
  for (uint32_t lines : {1u, 3u, 100000u})
    for (uint32_t length : {1u, 5u, 1001u, 1u << 20})
      for (bool side_by_side : {false, true}) {
        ScanParams p;
        p.lines = lines;
        p.length = length;
        p.in_step = side_by_side ? 4 : int64_t{lines} * 4;
        const int64_t line = side_by_side ? int64_t{length} * 4 : 4;
        p.others.add(lines, {line, line, 2 * line});
        p.plan = plan_of(p, 132);
        EXPECT_GE(int64_t{p.plan.chunk} * p.plan.splits, length);
        EXPECT_LT(int64_t{p.plan.chunk} * (p.plan.splits - 1), length);
        EXPECT_GE(int64_t{scan_blocks(p)} * (kBlock / p.plan.lanes), lines);
      }
}

}  // namespace
}  // namespace hotaru::cuda
