// Weights in groups of 4 bits and tables of integers, as passes make them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/core/half.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/script/passes/group_weight.h"
#include "hotaru/script/passes/narrow_table.h"

namespace hotaru::script {
namespace {

Tensor matrix(int64_t rows, int64_t columns, float value = 0) {
  Tensor out = allocate(Dims{rows, columns}, DType::kFloat32, Device{});
  std::fill_n(host_data<float>(out, "test"), rows * columns, value);
  return out;
}

std::vector<int> bytes_of(const Tensor& t) {
  const uint8_t* from = host_data<uint8_t>(t, "test");
  return {from, from + t.numel()};
}

TEST(GroupWeight, ARestOfRowsStandsBesideItsNeighbour) {
  Tensor weight = matrix(3, 32);
  float* w = host_data<float>(weight, "test");
  // Ranges of -8 to 7: a scale of 1 and a zero of 0.
  for (int64_t i = 0; i < 3; ++i) {
    w[i * 32] = -8, w[i * 32 + 1] = 7;
    w[i * 32 + 2] = float(i);
  }
  const GroupedWeight made = group_weight(weight, 32);
  EXPECT_EQ(made.packed.size(0), 4);
  const std::vector<int> q = bytes_of(made.packed);
  // Columns 0, 1 and 2 of rows 0 and 1, and of row 2 beside nothing.
  EXPECT_EQ(std::vector(q.begin(), q.begin() + 6),
            (std::vector<int>{0x00, 0x00, 0xff, 0x0f, 0x98, 0x0a}));
  const auto* scales = host_data<BFloat16>(made.scales, "test");
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(float(scales[i]), i % 2 ? 0 : 1);
}

TEST(GroupWeight, AWholeBlockPutsRowsHalfABlockApartIntoAByte) {
  Tensor weight = matrix(64, 32);
  float* w = host_data<float>(weight, "test");
  for (int64_t i = 0; i < 64; ++i) w[i * 32] = i < 32 ? -8 : 7;
  for (int64_t i = 0; i < 64; ++i) w[i * 32 + 1] = i < 32 ? 7 : -8;
  const std::vector<int> q = bytes_of(group_weight(weight, 32).packed);
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(q[i], 0xf0);
    EXPECT_EQ(q[32 + i], 0x0f);
  }
}

TEST(GroupWeight, TakesStrides) {
  Tensor weight = matrix(32, 64);
  float* w = host_data<float>(weight, "test");
  for (int64_t i = 0; i < 32 * 64; ++i) w[i] = float(i % 17);
  const Tensor turned = transpose(weight, 0, 1);
  Tensor whole = matrix(64, 32);
  float* to = host_data<float>(whole, "test");
  for (int64_t i = 0; i < 64; ++i)
    for (int64_t j = 0; j < 32; ++j) to[i * 32 + j] = w[j * 64 + i];
  EXPECT_EQ(bytes_of(group_weight(turned, 32).packed),
            bytes_of(group_weight(whole, 32).packed));
}

TEST(GroupWeight, RefusesWhatNoGroupsHold) {
  EXPECT_THROW(group_weight(matrix(2, 48), 32), ValueError);
  EXPECT_THROW(group_weight(matrix(2, 48), 48), ValueError);
  EXPECT_THROW(group_weight(matrix(0, 32), 32), ValueError);
  EXPECT_THROW(group_weight(matrix(2, 0), 32), ValueError);
  EXPECT_THROW(group_weight(matrix(2, 32, 2e38f), 32), ValueError);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(group_weight(matrix(2, 32, nan), 32), ValueError);
}

/// Bytes of PyTorch's embedding_bag_byte_prepack and _4bit_prepack for it.
TEST(NarrowTable, HasPyTorchsBytes) {
  Tensor table = matrix(4, 4);
  const std::vector<float> values{0.5f,   -1.25f, 3,      0.1f,   //
                                  7,      7,      7,      7,      //
                                  -1e-6f, 0,      2e-6f,  5e-7f,  //
                                  100,    -3.3f,  0.007f, 12};
  std::copy(values.begin(), values.end(), host_data<float>(table, "test"));
  EXPECT_EQ(bytes_of(narrow_table(table, {8, 0})),
            (std::vector<int>{
                105, 0,  255, 81,  137, 136, 136, 60, 0,   0,  160, 191,  //
                0,   0,  0,   0,   0,   0,   0,   0,  0,   0,  224, 64,   //
                0,   85, 254, 127, 186, 29,  74,  50, 189, 55, 134, 181,  //
                255, 0,  8,   38,  3,   105, 207, 62, 51,  51, 83,  192}));
  EXPECT_EQ(bytes_of(narrow_table(table, {4, 0})),
            (std::vector<int>{6,  95,  137, 52, 0,   189,  //
                              0,  0,   0,   60, 0,   71,   //
                              96, 143, 3,   0,  17,  128,  //
                              15, 32,  227, 70, 154, 194}));
}

TEST(NarrowTable, PartsHaveScalesOfTheirOwn) {
  Tensor table = matrix(1, 64);
  std::fill_n(host_data<float>(table, "test") + 32, 32, 5.0f);
  const Tensor made = narrow_table(table, {4, 32});
  EXPECT_EQ(made.size(1), 2);
  EXPECT_EQ(made.size(2), 20);
  uint16_t bias;
  std::memcpy(&bias, host_data<uint8_t>(made, "test") + 38, sizeof bias);
  EXPECT_EQ(float(Half::from_bits(bias)), 5.0f);
}

TEST(NarrowTable, RefusesWhatHasNoForm) {
  EXPECT_THROW(narrow_table(matrix(2, 3), {4, 0}), ValueError);
  EXPECT_THROW(narrow_table(matrix(2, 48), {4, 32}), ValueError);
  EXPECT_THROW(narrow_table(matrix(0, 4), {8, 0}), ValueError);
  EXPECT_THROW(narrow_table(matrix(2, 4, 4e4f), {4, 0}), ValueError);
  EXPECT_NO_THROW(narrow_table(matrix(2, 4, 4e4f), {8, 0}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(narrow_table(matrix(2, 4, nan), {8, 0}), ValueError);
}

}  // namespace
}  // namespace hotaru::script
