// Shapes against brute force over all small cases.
#include "hotaru/core/shape.h"

#include <gtest/gtest.h>

#include <set>

#include "hotaru/core/error.h"

namespace hotaru {
namespace {

/// Every list of up to `most` numbers below `limit`.
std::vector<Dims> lists(size_t most, int64_t limit) {
  std::vector<Dims> out{Dims()};
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].size() == most) continue;
    for (int64_t n = 0; n < limit; ++n) {
      Dims longer(out[i]);
      longer.push_back(n);
      out.push_back(longer);
    }
  }
  return out;
}

/// Offsets of all elements in row-major order.
std::vector<int64_t> offsets(IntSpan sizes, IntSpan strides) {
  std::vector<int64_t> out{0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t base : out)
      for (int64_t i = 0; i < sizes[d]; ++i)
        next.push_back(base + i * strides[d]);
    out = next;
  }
  return out;
}

TEST(Shape, DimsGrowBeyondTheInlinePart) {
  Dims dims;
  for (int64_t i = 0; i < 40; ++i) dims.push_back(i);
  dims.insert(3, 99);
  dims.erase(0);
  const Dims copy(dims);
  Dims moved(std::move(dims));
  ASSERT_EQ(moved.size(), 40u);
  EXPECT_EQ(moved[2], 99);
  EXPECT_EQ(moved.back(), 39);
  EXPECT_EQ(copy, moved);
}

TEST(Shape, AppendingIsLinearAndAbsurdLengthsAreErrors) {
  Dims dims;
  // Quadratic growth would move 10^12 integers here.
  for (int64_t i = 0; i < 1000000; ++i) dims.push_back(i);
  EXPECT_EQ(dims.back(), 999999);
  EXPECT_THROW(Dims(size_t{1} << 33, 0), Error);
}

TEST(Shape, BroadcastAgreesWithItsDefinition) {
  for (const Dims& a : lists(3, 4))
    for (const Dims& b : lists(2, 4)) {
      bool fits = true;
      for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
        const int64_t x = a[a.size() - i], y = b[b.size() - i];
        fits &= x == y || x == 1 || y == 1;
      }
      if (!fits) {
        EXPECT_THROW(broadcast_shapes(a, b), Error);
        continue;
      }
      const Dims out = broadcast_shapes(a, b);
      EXPECT_EQ(out, broadcast_shapes(b, a));
      ASSERT_EQ(out.size(), std::max(a.size(), b.size()));
    }
}

TEST(Shape, ViewStridesKeepTheOrderOfElements) {
  for (const Dims& sizes : lists(3, 3))
    for (const Dims& strides : lists(3, 4)) {
      if (sizes.size() != strides.size() || sizes.empty()) continue;
      for (const Dims& shape : lists(3, 5)) {
        if (numel_of(shape) != numel_of(sizes)) continue;
        Dims out;
        if (view_strides(sizes, strides, shape, &out))
          EXPECT_EQ(offsets(sizes, strides), offsets(shape, out));
      }
    }
}

TEST(Shape, DenseMeansEveryOffsetOnce) {
  for (const Dims& sizes : lists(3, 4))
    for (const Dims& strides : lists(3, 5)) {
      if (sizes.size() != strides.size()) continue;
      const auto all = offsets(sizes, strides);
      const std::set<int64_t> distinct(all.begin(), all.end());
      const bool once =
          distinct.size() == all.size() &&
          (all.empty() || *distinct.rbegin() + 1 == int64_t(all.size()));
      EXPECT_EQ(is_dense(sizes, strides), once)
          << shape_text(sizes) << shape_text(strides);
    }
}

TEST(Shape, StridesThatNobodyWalksStayInRange) {
  constexpr int64_t kFar = int64_t{1} << 62;
  EXPECT_EQ(scaled_stride(3, 4), 12);
  EXPECT_EQ(scaled_stride(kFar, 2), kFar);
  EXPECT_EQ(offset_at(5, 3, 4), 17);
  EXPECT_EQ(offset_at(5, 2, kFar), 5);
  EXPECT_EQ(offset_at(kFar, 1, kFar), kFar);
}

TEST(Shape, StridesAreCountedInBytes) {
  constexpr int64_t kFar = int64_t{1} << 62;
  EXPECT_EQ(storage_bytes(Dims{1, 2}, Dims{1 << 20, 1}, 4), 8u);
  EXPECT_THROW(storage_bytes(Dims{1, 2}, Dims{kFar, 1}, 4), Error);
  EXPECT_THROW(storage_bytes(Dims{0, 2}, Dims{kFar, 1}, 4), Error);
  EXPECT_EQ(storage_bytes(Dims{1, 2}, Dims{kFar, 1}, 1), 2u);
}

}  // namespace
}  // namespace hotaru
