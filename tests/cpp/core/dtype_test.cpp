// Dtypes: sizes, names, what holds of them, and how they go together.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "hotaru/core/error.h"
#include "hotaru/core/rare.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru {
namespace {

TEST(DTypes, EachHasANameAndASize) {
  std::set<std::string> names;
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(dtype_from_int(int64_t(dtype)), dtype);
    EXPECT_TRUE(names.insert(dtype_name(dtype)).second);
    EXPECT_TRUE(names.insert(scalar_type_name(dtype)).second);
    EXPECT_GT(itemsize(dtype), 0u);
    EXPECT_EQ(promote_types(dtype, dtype), dtype);
  }
  EXPECT_THROW(dtype_from_int(12), TypeError);  // quantised
  EXPECT_THROW(dtype_from_int(46), TypeError);
}

TEST(DTypes, NumbersAreThoseOfArchives) {
  EXPECT_EQ(int(DType::kBits1x8), 18);
  EXPECT_EQ(int(DType::kBits16), 22);
  EXPECT_EQ(int(DType::kUInt1), 30);
  EXPECT_EQ(int(DType::kInt7), 43);
  EXPECT_EQ(int(DType::kFloat8E8M0FNU), 44);
  EXPECT_EQ(int(DType::kFloat4E2M1FNX2), 45);
}

TEST(DTypes, EachIsOfOneKind) {
  for (const DType dtype : kAllDTypes) {
    const int kinds = is_complex(dtype) + is_floating_point(dtype) +
                      is_integral(dtype, true) + is_bits(dtype) +
                      is_small_integer(dtype);
    EXPECT_EQ(kinds, 1) << dtype;
    EXPECT_TRUE(!is_stored_only(dtype) || is_rare(dtype)) << dtype;
  }
  EXPECT_TRUE(is_signed(DType::kInt1));
  EXPECT_FALSE(is_signed(DType::kUInt7));
  EXPECT_FALSE(is_signed(DType::kFloat8E8M0FNU));
  EXPECT_THROW(checked_signed(DType::kBits8), Error);
}

TEST(DTypes, WhatIsOnlyStoredIsMovedAndNotConverted) {
  for (const DType dtype : kAllDTypes) {
    if (!is_stored_only(dtype)) continue;
    const Tensor zeros = hotaru::zeros({{3}}, dtype);
    EXPECT_EQ(zeros.storage()->nbytes(), 3 * itemsize(dtype));
    EXPECT_EQ(clone(zeros).dtype(), dtype);
    EXPECT_THROW(ones({{3}}, dtype), NotImplementedError);
    EXPECT_THROW(to(zeros, DType::kFloat32), NotImplementedError);
    EXPECT_THROW(to(hotaru::ones({{3}}), dtype), NotImplementedError);
    EXPECT_THROW(promote_types(dtype, DType::kInt64), Error);
  }
}

}  // namespace
}  // namespace hotaru
