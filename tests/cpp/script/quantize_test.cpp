// Weights in 8-bit integers, and which products take them.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/script/passes/quantize_linear.h"

namespace hotaru::script {
namespace {

Tensor matrix(std::vector<float> values, int64_t rows) {
  const Dims sizes{rows, int64_t(values.size()) / rows};
  Tensor out = allocate(sizes, DType::kFloat32, Device{});
  std::copy(values.begin(), values.end(), host_data<float>(out, "test"));
  return out;
}

std::vector<int> integers(const QuantizedWeight& weight) {
  const Tensor whole = contiguous(weight.integers);
  const int8_t* from = host_data<int8_t>(whole, "test");
  return {from, from + whole.numel()};
}

TEST(QuantizeWeight, RoundsTiesToEvenAndCutsTheGreatest) {
  const QuantizedWeight made =
      quantize_weight(matrix({127.5f, -127.5f, 0.5f, 1.5f, -2.5f, 3}, 2));
  EXPECT_EQ(*host_data<float>(made.scale, "test"), 1.0f);
  EXPECT_EQ(integers(made), (std::vector<int>{127, -128, 0, 2, -2, 3}));
}

TEST(QuantizeWeight, TakesStridesAndGivesRows) {
  const Tensor wide = matrix({1, 2, 3, 4, 5, 6}, 2);
  const QuantizedWeight made = quantize_weight(transpose(wide, 0, 1));
  EXPECT_EQ(made.integers.size(0), 3);
  EXPECT_TRUE(made.integers.is_contiguous());
  const std::vector<int> found = integers(made);
  EXPECT_LT(found[0], found[2]);  // 1 before 2, and 4 between
  EXPECT_LT(found[2], found[1]);
  EXPECT_EQ(found[5], 127);
}

TEST(QuantizeWeight, OfZerosHasAScaleAboveZero) {
  const QuantizedWeight made = quantize_weight(matrix({0, 0}, 1));
  EXPECT_EQ(*host_data<float>(made.scale, "test"),
            std::numeric_limits<float>::epsilon());
  EXPECT_EQ(integers(made), (std::vector<int>{0, 0}));
}

TEST(QuantizeWeight, RefusesWhatHasNoScale) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_THROW(quantize_weight(matrix({1, nan}, 1)), ValueError);
  EXPECT_THROW(quantize_weight(matrix({1, -infinite}, 1)), ValueError);
  EXPECT_THROW(quantize_weight(to(matrix({1}, 1), DType::kFloat64)),
               ValueError);
  EXPECT_THROW(quantize_weight(allocate(Dims{0, 4}, DType::kFloat32, Device{})),
               ValueError);
}

TEST(ProductCounts, AGraphWithoutProductsKeepsNone) {
  Graph graph;
  ProductCounts counts;
  quantize_linear(graph, &counts);
  quantize_linear(graph, nullptr);
  EXPECT_EQ(counts.rewritten, 0u);
  EXPECT_TRUE(counts.kept.empty());
}

}  // namespace
}  // namespace hotaru::script
