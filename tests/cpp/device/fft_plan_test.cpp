// How Fourier transforms of all lengths are cut for CUDA's blocks.
#include <gtest/gtest.h>

#include "hotaru/backend/cuda/fft/plan.h"

namespace hotaru::cuda::fft {
namespace {

/// Lengths up to some thousands, and larger ones of each kind.
std::vector<int64_t> lengths() {
  std::vector<int64_t> out;
  for (int64_t n = 1; n < 5000; ++n) out.push_back(n);
  for (int64_t n = 8192; n < int64_t{1} << 29; n *= 2)
    out.insert(out.end(), {n, n + 1, n / 8 * 3, n / 64 * 61, n / 128 * 77});
  out.insert(out.end(), {61 * 61 * 61, 59 * 61, 53 * 59 * 61 * 47});
  return out;
}

TEST(FftPlan, PassesFitIntoBlocks) {
  for (const uint32_t item : {8u, 16u})
    for (const int64_t length : lengths()) {
      int64_t n = length;
      if (!is_smooth(n)) {
        n = good_length(2 * length - 1);
        EXPECT_GE(n, 2 * length - 1);
        EXPECT_TRUE(is_smooth(n));
      }
      while (const int64_t column = split(n, item)) {
        // Fewer points are left each time, and the column is no row itself.
        ASSERT_GT(column, 1) << n;
        ASSERT_EQ(n % column, 0);
        ASSERT_EQ(split(column, item), 0);
        n /= column;
      }
      int64_t product = 1;
      for (const uint32_t radix : radices(n)) product *= radix;
      EXPECT_EQ(product, n);
      EXPECT_LE(radices(n).size(), size_t(FftParams::kMostPasses));
    }
}

TEST(FftPlan, LinesFitIntoSharedMemory) {
  for (const uint32_t item : {8u, 16u})
    for (int64_t n = 1; n <= fft_most_points(item); ++n)
      for (const int64_t total : {1, 3, 1000, 1000000}) {
        FftParams p;
        p.n = Divider(uint32_t(n));
        p.total = uint32_t(total);
        p.lines = Divider(lines_of_block(n, total, item));
        EXPECT_GE(p.lines.divisor, 1u);
        EXPECT_LE(p.lines.divisor, kBlock);
        EXPECT_LE(p.shared_bytes(item), 49152u);
        EXPECT_GE(int64_t{p.groups()} * p.lines.divisor, total);
      }
}

TEST(FftPlan, ColumnsAreReadSideBySide) {
  for (const uint32_t item : {8u, 16u})
    for (const int64_t n : {1 << 20, 1 << 24}) {
      const int64_t column = split(n, item);
      EXPECT_GE(lines_of_block(column, n / column, item) * item, 32u) << n;
    }
}

}  // namespace
}  // namespace hotaru::cuda::fft
