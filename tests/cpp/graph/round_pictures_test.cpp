// Convolutions that may round, in graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/pool/pool.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/operand.h"
#include "tests/cpp/captured_graph.h"

namespace hotaru::graph {
namespace {

class RoundPictures : public testing::Test {
 protected:
  void SetUp() override {
    if (!simd_has_bf16_products())
      GTEST_SKIP() << "this processor has no products of bfloat16";
    set_allows_bf16(Bf16::kConv, true);
  }
  void TearDown() override { set_allows_bf16(Bf16::kConv, false); }
};

using Calls = std::vector<std::pair<std::string, int>>;

/// Names of a graph's calls, and how many operands of bfloat16 each has.
Calls calls(const Captured& captured) {
  Calls out;
  for (const auto& node : captured.graph->program().nodes()) {
    int halves = 0;
    for (const Operand& operand : node->call().operands())
      halves += !operand.object && operand.tensor->defined() &&
                operand.tensor->dtype() == DType::kBFloat16;
    out.emplace_back(node->name(), halves);
  }
  return out;
}

struct Layer {
  Layer(int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride = 1)
      : w(mul(randn(Dims{outputs, inputs, kernel, kernel}),
              1 / std::sqrt(double(inputs * kernel * kernel)))),
        bias(randn(Dims{outputs})),
        stride(stride) {}
  Tensor operator()(const Tensor& x) const {
    return convolution(x, w, bias, Dims{stride}, Dims{w.size(2) / 2}, Dims{1},
                       false, Dims{0}, 1);
  }
  Tensor w, bias;
  int64_t stride;
};

// Values of size 1: each rounding moves a sum of k products by about
// 2^-9 / sqrt(3), whatever k, as errors are independent; six deviations of
// that, through at most four roundings a layer and three layers.
constexpr double kRounded = 6 * 4 * 3 * 0x1p-9;

TEST_F(RoundPictures, WhatConvolutionsAloneReadIsKeptInBfloat16) {
  const Layer in(3, 32, 3, 2), a(32, 64, 1), b(64, 64, 3), c(64, 32, 1),
      last(32, 48, 3);
  const Tensor x = randn(Dims{2, 3, 20, 18});
  const auto model = [&] {
    const Tensor y = relu(in(x));
    const Tensor z = relu(add(c(relu(b(relu(a(y))))), y));
    return adaptive_avg_pool(relu(last(z)), Dims{1, 1});
  };
  const Captured graph(model);
  // The first has w and the result; then x and w, result, residual.
  EXPECT_EQ(calls(graph), (Calls{{"blocked_conv", 2},
                                 {"blocked_conv", 3},
                                 {"blocked_conv", 3},
                                 {"blocked_conv", 4},
                                 {"blocked_conv", 2},
                                 {"blocked_mean", 0}}));
  const Tensor got = graph.replayed();
  set_allows_bf16(Bf16::kConv, false);
  const Captured exact(model);
  const double far = distance(got, exact.replayed());
  EXPECT_LE(far, kRounded);
  EXPECT_GT(far, 0);
  // It is kept as it was captured, and new weights are rounded anew.
  EXPECT_EQ(distance(got, graph.replayed()), 0);
  mul_(b.w, 2);
  fill_(c.bias, 1.5);
  const Tensor again = graph.replayed();
  EXPECT_LE(distance(again, exact.replayed()), 2 * kRounded);
  EXPECT_GT(distance(again, got), 0.01);
}

TEST_F(RoundPictures, WhatOthersReadIsRoundedOnceMore) {
  const Layer a(32, 32, 3), b(32, 32, 3), c(32, 32, 1);
  const Tensor x = randn(Dims{1, 32, 12, 12});
  const auto model = [&] {
    const Tensor y = relu(a(x));
    const Tensor z = sin(y);
    return add(b(y), c(z));  // y has two readers, z one
  };
  const Captured graph(model);
  // y and z are rounded by the call that computes z.
  EXPECT_EQ(calls(graph), (Calls{{"block_channels", 0},
                                 {"copy_", 1},
                                 {"blocked_conv", 2},
                                 {"graph_fused", 2},
                                 {"blocked_conv", 2},
                                 {"blocked_conv", 2},
                                 {"unblock_channels", 0}}));
  set_allows_bf16(Bf16::kConv, false);
  EXPECT_LE(distance(graph.replayed(), Captured(model).replayed()), kRounded);
}

// As in a U-Net: whatever only moves numbers moves those of bfloat16.
TEST_F(RoundPictures, PoolsJoinsAndRectanglesMoveBfloat16) {
  const Layer in(32, 32, 3), deep(32, 64, 3), up(64, 48, 3), out(48, 32, 1);
  const Tensor x = randn(Dims{2, 32, 8, 12});
  const Tensor w = mul(randn(Dims{64, 32, 2, 2}), 0.1), bias = randn(Dims{32});
  const auto model = [&] {
    const Tensor wide = relu(in(x));
    const Tensor low = relu(deep(std::get<0>(max_pool(
        wide, 2, {Dims{2}, Dims{2}, Dims{0}, Dims{1}, false}, false))));
    const Tensor high =
        convolution(low, w, bias, Dims{2}, Dims{0}, Dims{1}, true, Dims{0}, 1);
    return out(relu(up(cat({high, wide}, 1))));
  };
  const Captured graph(model);
  EXPECT_EQ(calls(graph), (Calls{{"block_channels", 0},
                                 {"copy_", 1},
                                 {"blocked_conv", 3},
                                 {"blocked_max_pool", 2},
                                 {"blocked_conv", 3},
                                 {"blocked_conv", 3},  // four pixels each
                                 {"copy_", 2},
                                 {"cat", 3},
                                 {"blocked_conv", 3},
                                 {"blocked_conv", 2},
                                 {"unblock_channels", 0}}));
  const Tensor got = graph.replayed();
  set_allows_bf16(Bf16::kConv, false);
  EXPECT_LE(distance(got, Captured(model).replayed()), 2 * kRounded);
}

// Weights that a later pass allocates must not be taken for pictures that this
// one left out, whose addresses they may have.
TEST_F(RoundPictures, WhatIsLeftOutIsNoLongerAValue) {
  for (int i = 0; i < 8; ++i) {
    const Layer a(32, 32, 3), b(32, 32, 3);
    std::vector<Tensor> weights;
    for (int k = 0; k < 6; ++k) weights.push_back(randn(Dims{96, 32}));
    const Tensor x = randn(Dims{1, 32, 6, 6});
    const auto model = [&] {
      Tensor y = sum(relu(b(relu(a(x)))), Dims{2, 3}, false);
      for (const Tensor& w : weights)
        y = add(y, narrow(matmul(y, t(w)), 1, 0, 32));
      return y;
    };
    const Captured graph(model);
    std::unordered_set<const Ordered*> made;
    for (const auto& node : graph.graph->program().once())
      for (const Operand& operand : node->call().operands())
        if (operand.writes()) made.insert(ordered_of(operand));
    for (const Placement& value : graph.graph->program().plan().placements)
      EXPECT_FALSE(made.contains(value.storage));
  }
}

TEST_F(RoundPictures, DepthwiseOnesReadAndWriteBfloat16) {
  const Layer in(32, 48, 1), out(48, 32, 1);
  const Tensor w = mul(randn(Dims{48, 1, 3, 3}), 0.3);
  const Tensor x = randn(Dims{2, 32, 14, 9});
  const auto model = [&] {
    const Tensor y = relu(in(x));
    return out(add(relu(convolution(y, w, {}, Dims{1}, Dims{1}, Dims{1}, false,
                                    Dims{0}, 48)),
                   0.5));
  };
  const auto straight = [&] {
    return out(relu(convolution(relu(in(x)), w, {}, Dims{1}, Dims{1}, Dims{1},
                                false, Dims{0}, 48)));
  };
  const Captured graph(straight);
  EXPECT_EQ(calls(graph), (Calls{{"block_channels", 0},
                                 {"copy_", 1},
                                 {"blocked_conv", 3},
                                 {"blocked_conv", 2},
                                 {"blocked_conv", 2},
                                 {"unblock_channels", 0}}));
  const Tensor got = graph.replayed();
  const Tensor apart = Captured(model).replayed();
  set_allows_bf16(Bf16::kConv, false);
  EXPECT_LE(distance(got, Captured(straight).replayed()), kRounded);
  EXPECT_LE(distance(apart, Captured(model).replayed()), kRounded);
}

TEST_F(RoundPictures, AWriteInBetweenIsSeen) {
  const Layer a(32, 32, 3), b(32, 32, 3);
  const Tensor x = randn(Dims{1, 32, 8, 8});
  const auto model = [&] {
    const Tensor y = a(x);
    const Tensor first = b(y);
    mul_(y, 3);
    return add(first, b(y));
  };
  const Captured graph(model);
  EXPECT_LE(distance(graph.replayed(), model()), 5 * kRounded);
}

TEST_F(RoundPictures, WithoutThePassOrPermissionNothingIsRounded) {
  const Layer a(32, 32, 3), b(32, 32, 3);
  const Tensor x = randn(Dims{1, 32, 8, 8});
  const auto model = [&] { return b(relu(a(x))); };
  const Captured without(model, Options{{"round_pictures"}, false});
  set_allows_bf16(Bf16::kConv, false);
  const Captured exact(model);
  EXPECT_EQ(distance(without.replayed(), exact.replayed()), 0);
  for (const auto& [name, halves] : calls(exact)) EXPECT_EQ(halves, 0) << name;
}

}  // namespace
}  // namespace hotaru::graph
