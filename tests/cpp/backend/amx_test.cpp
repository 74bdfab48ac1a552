// Products of bytes by AMX's tiles, emulated and the processor's where it has
// them, and what emulated ones compute of bfloat16. Products of those by tiles
// are gemm_bf16_test's and blocked_pairs_test's.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "hotaru/backend/cpu/matmul/amx/quad_tiles.h"
#include "hotaru/backend/cpu/matmul/amx/tile_units.h"
#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/core/half.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru {
namespace {

using amx::kMaxSide;

float as_word(BFloat16 first, BFloat16 second) {
  return std::bit_cast<float>(uint32_t{first.bits} | uint32_t{second.bits}
                                                         << 16);
}

void check_quads(amx::QuadTile tile, int rows, int cols, int64_t quads) {
  SCOPED_TRACE(concat(rows, " x ", cols, " over ", quads));
  std::mt19937 random(7);
  const int64_t a_row = (quads + 15) / 16 * 16 + 16;
  std::vector<int32_t> a(size_t(rows * a_row)),
      panel(size_t((kQuadHeader + quads) * kMaxSide));
  for (int32_t& word : a) word = int32_t(random());
  for (int32_t& word : panel) word = int32_t(random());
  std::vector<QuadRow> of_a(static_cast<size_t>(rows));
  for (QuadRow& row : of_a) row = {int32_t(random()), int32_t(random() % 256)};
  std::vector<int32_t> c(size_t(rows * 33), 5);
  Int8Output out{};
  out.data = c.data();
  out.stride = 33;
  tile(rows, cols, quads, a.data(), a_row, of_a.data(), panel.data(), out);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 33; ++j) {
      uint32_t want = 5;
      if (j < cols) {
        want = 0;
        for (int64_t p = 0; p < quads; ++p)
          for (int q = 0; q < 32; q += 8) {
            const auto x = uint32_t(a[size_t(i * a_row + p)]) >> q & 255;
            const int32_t y = int8_t(
                uint32_t(panel[size_t((kQuadHeader + p) * kMaxSide + j)]) >> q);
            want += x * uint32_t(y);
          }
        want -= uint32_t(panel[size_t(j)]) * uint32_t(of_a[size_t(i)].sum) +
                uint32_t(panel[size_t(kMaxSide + j)]) *
                    uint32_t(of_a[size_t(i)].zero);
      }
      ASSERT_EQ(c[size_t(i * 33 + j)], int32_t(want)) << i << ", " << j;
    }
}

void check(amx::QuadTile tile) {
  for (const int rows : {1, 2, 15, 16, 17, 31, 32})
    for (const int cols : {1, 7, 16, 17, 32})
      for (const int64_t depth : {1, 15, 16, 17, 32, 70})
        check_quads(tile, rows, cols, depth);
}

TEST(Amx, BytesOnEmulatedTiles) {
  check(amx::emulated_quads());
}

TEST(Amx, BytesOnTheProcessorsTiles) {
  const amx::QuadTile tile = amx::hardware_quads();
  if (!tile || !simd_has_tiles())
    GTEST_SKIP() << "this processor has no AMX with bfloat16 and bytes";
  check(tile);
}

/// Result of one instruction for one row and one column.
float bf16_product(float sum, const std::vector<float>& a,
                   const std::vector<float>& b) {
  amx::TileConfig config;
  const auto words = int64_t(a.size());
  config.set(0, 1, 1);
  config.set(1, 1, words);
  config.set(2, words, 1);
  amx::EmulatedTiles tiles;
  tiles.configure(1, [&] { return config; });
  tiles.load<0>(&sum, 64);
  tiles.load<1>(a.data(), 64);
  tiles.load<2>(b.data(), 4);
  tiles.add_bf16<0, 1, 2>();
  tiles.store<0>(&sum, 64);
  return sum;
}

TEST(Amx, FirstAndSecondNumbersAreSummedApart) {
  const BFloat16 one(1.0f), huge(0x1p30f), less(-0x1p30f);
  // One after the other, the ones would be lost.
  EXPECT_EQ(bf16_product(0, {as_word(one, one), as_word(one, one)},
                         {as_word(huge, one), as_word(less, one)}),
            2);
  // Their sum is rounded before it is added to what was there.
  EXPECT_EQ(bf16_product(0x1p24f, {as_word(one, one)}, {as_word(one, one)}),
            0x1p24f + 2);
  EXPECT_EQ(bf16_product(0x1p24f, {as_word(one, BFloat16(0.0f))},
                         {as_word(one, one)}),
            0x1p24f);
}

TEST(Amx, SubnormalNumbersAreZeros) {
  const BFloat16 small(0x1p-130f), big(0x1p100f), one(1.0f);
  EXPECT_EQ(bf16_product(1, {as_word(small, one)}, {as_word(big, one)}), 2);
  EXPECT_EQ(bf16_product(0x1p-140f, {as_word(one, one)}, {as_word(one, one)}),
            2);
  EXPECT_EQ(bf16_product(0, {as_word(BFloat16(0x1p-70f), one)},
                         {as_word(BFloat16(0x1p-70f), BFloat16(0.0f))}),
            0);
}

TEST(Amx, WhatIsNoNumberStaysSo) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const BFloat16 one(1.0f), zero(0.0f);
  EXPECT_TRUE(std::isnan(
      bf16_product(0, {as_word(BFloat16(nan), one)}, {as_word(zero, one)})));
  EXPECT_TRUE(std::isnan(
      bf16_product(0, {as_word(BFloat16(inf), one)}, {as_word(zero, one)})));
  EXPECT_EQ(bf16_product(0, {as_word(BFloat16(inf), one)}, {as_word(one, one)}),
            inf);
}

}  // namespace
}  // namespace hotaru
