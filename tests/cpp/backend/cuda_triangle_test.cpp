// Where elements of triangles lie that no memory could hold.
#include <gtest/gtest.h>

#include "hotaru/backend/cuda/params/triangle.h"

namespace hotaru::cuda {
namespace {

constexpr int64_t kSide = int64_t{1} << 31;

void expect_place(const Triangle& triangle, int64_t i, int64_t row,
                  int64_t column) {
  const Place at = triangle.find(i);
  EXPECT_EQ(at.row, row) << i;
  EXPECT_EQ(at.column, column) << i;
}

TEST(CudaTriangle, FindsEndsOfRowsBelowADiagonal) {
  for (const int64_t diagonal : {int64_t{-5}, int64_t{0}, int64_t{1} << 20}) {
    const Triangle t(kSide, kSide, diagonal, false);
    for (int64_t row = 7; row + diagonal < kSide; row = row * 3 + 1) {
      const int64_t n = row + (diagonal < 0 ? diagonal : 0);
      const int64_t first = diagonal < 0 ? 1 : diagonal + 1;
      const int64_t before = n * first + n * (n - 1) / 2;
      expect_place(t, before, row, 0);
      expect_place(t, before - 1, row - 1, row - 1 + diagonal);
    }
  }
}

TEST(CudaTriangle, FindsEndsOfRowsAboveADiagonal) {
  const Triangle pairs(kSide, kSide, 1, true);
  ASSERT_EQ(pairs.count(), kSide * (kSide - 1) / 2);
  expect_place(pairs, pairs.count() - 1, kSide - 2, kSide - 1);
  for (int64_t row = 0; row + 2 < kSide; row = row * 3 + 1) {
    const int64_t end = (row + 1) * kSide - (row + 1) * (row + 2) / 2;
    expect_place(pairs, end - 1, row, kSide - 1);
    expect_place(pairs, end, row + 1, row + 2);
  }
}

TEST(CudaTriangle, FindsWholeRows) {
  const Triangle wide(3, kSide, kSide - 2, false);
  ASSERT_EQ(wide.count(), 3 * kSide - 1);
  expect_place(wide, kSide - 2, 0, kSide - 2);
  expect_place(wide, 3 * kSide - 2, 2, kSide - 1);
  const Triangle none(5, 4, -5, false);
  EXPECT_EQ(none.count(), 0);
}

}  // namespace
}  // namespace hotaru::cuda
