#include "hotaru/backend/common/pointwise/walk.h"

#include <gtest/gtest.h>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/backend.h"

namespace hotaru {
namespace {

using Strides = std::vector<int64_t>;

Tensor made(const Dims& sizes) {
  return allocate(sizes, DType::kFloat32, Device{DeviceType::kCPU, -1});
}
Tensor view(const Tensor& t, const Dims& sizes, const Dims& strides,
            int64_t offset = 0) {
  return make_tensor(t.storage(), t.dtype(), sizes, strides, offset);
}

TEST(Walk, ExchangedAndJoinedDimensions) {
  const Tensor whole = made({2, 3, 5, 4});
  const auto walk = Walk::of(whole, view(whole, {2, 5, 3, 4}, {60, 4, 20, 1}));
  ASSERT_TRUE(walk);
  EXPECT_EQ(walk->strides(made({2, 5, 3, 4})), (Strides{60, 4, 12, 1}));
  EXPECT_EQ(walk->strides(made({3, 4})), (Strides{0, 4, 0, 1}));
  EXPECT_EQ(walk->strides(made({5, 1, 1})), (Strides{0, 0, 1, 0}));

  const Tensor rows = view(whole, {2, 3, 5, 4}, {60, 4, 12, 1});
  const auto joined = Walk::of(rows, view(whole, {10, 12}, {12, 1}));
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->strides(made({10, 12})), (Strides{60, 4, 12, 1}));
  EXPECT_EQ(joined->strides(made({12})), (Strides{0, 4, 0, 1}));
  EXPECT_EQ(joined->strides(view(whole, {10, 12}, {1, 10})),
            (Strides{5, 40, 1, 10}));
}

TEST(Walk, DimensionsOfOneElement) {
  const Tensor whole = made({1, 3, 1, 4});
  const auto walk = Walk::of(whole, view(whole, {3, 4, 1}, {4, 1, 7}));
  ASSERT_TRUE(walk);
  EXPECT_EQ(walk->strides(made({3, 4, 1})), (Strides{0, 4, 0, 1}));
}

TEST(Walk, WhatIsNoneIsRefused) {
  const Tensor whole = made({4, 6});
  EXPECT_FALSE(Walk::of(whole, view(whole, {4, 2, 3}, {6, 3, 1})));  // cut
  EXPECT_FALSE(Walk::of(whole, view(whole, {4, 3}, {6, 1})));        // a part
  EXPECT_FALSE(Walk::of(whole, view(whole, {4, 6}, {0, 1})));        // not all
  EXPECT_FALSE(Walk::of(whole, made({4, 6})));                       // others
  const Tensor large = made({50});
  EXPECT_FALSE(Walk::of(view(large, {4, 6}, {6, 1}),
                        view(large, {4, 6}, {6, 1}, 1)));  // one further
  EXPECT_FALSE(Walk::of(view(large, {4, 6}, {12, 2}),
                        view(large, {4, 6}, {6, 1})));  // every second
}

}  // namespace
}  // namespace hotaru
