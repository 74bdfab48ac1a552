// Texts of parts are what a stream makes of them.
#include "hotaru/core/printing/concat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hotaru/core/dtype.h"
#include "hotaru/core/error.h"

namespace hotaru {
namespace {

template <class T>
void expect_as_streamed(const T& value) {
  std::ostringstream stream;
  stream << "<" << value << ">";
  EXPECT_EQ(concat("<", value, ">"), stream.str());
}

TEST(Concat, Integers) {
  expect_as_streamed(0);
  expect_as_streamed(short{-4});
  expect_as_streamed(static_cast<unsigned short>(65535));
  expect_as_streamed(~0u);
  expect_as_streamed(std::numeric_limits<int64_t>::min());
  expect_as_streamed(std::numeric_limits<uint64_t>::max());
  expect_as_streamed(true);
}

TEST(Concat, Reals) {
  for (const double value :
       {0.0, -0.0, 1.0, 0.1, 1.0 / 3, 1e5, 999999.5, 1e6, 123456.7, 1e-4, 1e-5,
        5e-324, std::numeric_limits<double>::max(), HUGE_VAL, -HUGE_VAL}) {
    expect_as_streamed(value);
    expect_as_streamed(float(value));
  }
  expect_as_streamed(std::nan(""));
}

TEST(Concat, Texts) {
  const char array[8] = "ab\0cd";
  expect_as_streamed(array);
  expect_as_streamed(static_cast<const char*>(array));
  expect_as_streamed(std::string("a\0b", 3));
  expect_as_streamed(std::string_view("a\0b", 3));
  expect_as_streamed('c');
  expect_as_streamed(static_cast<unsigned char>('u'));
  expect_as_streamed(static_cast<signed char>('s'));
  EXPECT_EQ(concat(), "");
}

TEST(Concat, WhatPrintsItself) {
  EXPECT_EQ(concat(DType::kFloat32, " and ", DType::kBool),
            "torch.float32 and torch.bool");
}

TEST(Concat, Errors) {
  try {
    fail<TypeError>("a ", 3, std::string(" b "), 2.5);
  } catch (const TypeError& error) {
    EXPECT_STREQ(error.what(), "a 3 b 2.5");
    return;
  }
  FAIL();
}

}  // namespace
}  // namespace hotaru
