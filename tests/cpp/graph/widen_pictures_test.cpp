// Convolutions of bfloat16 and float16 in graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/norm/norm.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/pool/pool.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/ops/shape/view.h"
#include "tests/cpp/captured_graph.h"

namespace hotaru::graph {
namespace {

DType kind = DType::kBFloat16;  // of the test that runs

Tensor half(const Tensor& t) {
  return to(t, kind);
}

class WidenPictures : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override { kind = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Dtypes, WidenPictures,
                         ::testing::Values(DType::kBFloat16, DType::kFloat16));

struct Layer {
  Layer(int64_t inputs, int64_t outputs, int64_t kernel)
      : w(half(mul(randn(Dims{outputs, inputs, kernel, kernel}),
                   1 / std::sqrt(double(inputs * kernel * kernel))))),
        bias(half(randn(Dims{outputs}))),
        mean(randn(Dims{outputs})),
        variance(add(rand(Dims{outputs}), 0.5)) {}
  Tensor operator()(const Tensor& x) const {
    return convolution(x, w, bias, Dims{1}, Dims{w.size(2) / 2}, Dims{1}, false,
                       Dims{0}, 1);
  }
  Tensor norm(const Tensor& x) const {
    return batch_norm(x, {}, {}, mean, variance, false, 0.1, 1e-5);
  }
  Tensor w, bias, mean, variance;
};

/// Values of up to 6 that the calls round at 2^-9 each (float16 at 2^-12), up
/// to six times one after the other, and the graph less often.
double rounded() {
  return 6 * 6 * (kind == DType::kBFloat16 ? 0x1p-8 : 0x1p-11);
}

Tensor pooled(const Tensor& x) {
  return std::get<0>(
      max_pool(x, 2, {Dims{2}, Dims{2}, Dims{0}, Dims{1}, false}, false));
}

TEST_P(WidenPictures, ConvolutionsAndWhatFollowsThemStayInBlocks) {
  const Layer a(32, 48, 3), b(48, 32, 1), c(48, 32, 3), d(64, 32, 1);
  const Tensor x = half(randn(Dims{2, 32, 8, 10}));
  const auto model = [&] {
    const Tensor y = pooled(relu(a.norm(a(x))));
    return d(cat({relu(add(b(y), c(y))), silu(b(y))}, 1));
  };
  const Captured graph(model);
  EXPECT_EQ(graph.count("conv_forward"), 0);
  EXPECT_EQ(graph.count("blocked_conv") + graph.count("winograd_conv"), 5);
  EXPECT_EQ(graph.count("unblock_channels"), 1);
  const Tensor got = graph.replayed();
  EXPECT_EQ(got.dtype(), kind);
  EXPECT_LE(distance(got, model()), rounded());
  const Captured plain(model, Options{{"widen_pictures"}, false});
  EXPECT_EQ(plain.count("conv_forward"), 5);
  EXPECT_LE(distance(plain.replayed(), model()), rounded());
  // New weights and statistics are widened anew.
  mul_(a.w, 2);
  fill_(d.bias, 3);
  fill_(a.mean, 0.5);
  const Tensor again = graph.replayed();
  EXPECT_LE(distance(again, model()), 2 * rounded());
  EXPECT_GT(distance(again, got), 0.5);
  EXPECT_EQ(distance(Captured(model, Options{{}, true}).replayed(), model()),
            0);
}

TEST_P(WidenPictures, WhatOthersReadIsOf16Bits) {
  const Layer a(32, 32, 3), b(32, 32, 1);
  const Tensor x = half(randn(Dims{1, 32, 6, 6}));
  Tensor first, second;
  const auto model = [&] {
    const Tensor y = relu(a(x));
    first = y;               // a result
    second = softmax(y, 1);  // a reader that stays
    return b(y);
  };
  const Captured graph(model);
  const Tensor got = graph.replayed();
  const Tensor got_first = clone(first), got_second = clone(second);
  EXPECT_EQ(got_first.dtype(), kind);
  EXPECT_LE(distance(got, model()), rounded());
  EXPECT_LE(distance(got_first, first), rounded());
  EXPECT_LE(distance(got_second, second), rounded());
}

TEST_P(WidenPictures, WritesInPlaceAndFromOutsideAreSeen) {
  const Layer a(32, 32, 3), b(32, 32, 1);
  const Tensor x = half(randn(Dims{1, 32, 6, 6}));
  const auto in_place = [&] {
    const Tensor y = a(x);
    const Tensor before = b(y);
    mul_(y, 0.5);
    return add(before, b(y));
  };
  const Captured graph(in_place);
  EXPECT_EQ(graph.count("conv_forward"), 0);
  EXPECT_LE(distance(graph.replayed(), in_place()), rounded());
  // Tensors from outside are not there in float32.
  const Tensor state = half(randn(Dims{1, 32, 6, 6}));
  const auto outside = [&] {
    mul_(state, 0.5);
    return b(relu(add(state, a(x))));
  };
  const Tensor kept = clone(state);
  const Captured halved(outside);
  const Tensor want = outside(), after = clone(state);
  copy_(state, kept);
  EXPECT_LE(distance(halved.replayed(), want), rounded());
  EXPECT_EQ(distance(state, after), 0);
  // By a call that stays as it is, of which part is written then.
  const auto partly = [&] {
    const Tensor y = a(x);
    fill_(narrow(y, 2, 1, 3), 2);
    return b(relu(y));
  };
  EXPECT_LE(distance(Captured(partly).replayed(), partly()), rounded());
  const auto inputs = [&] {
    const Tensor y = mul(x, 2), first = a(y);
    fill_(y, 1);
    return add(first, a(y));
  };
  EXPECT_LE(distance(Captured(inputs).replayed(), inputs()), rounded());
}

TEST_P(WidenPictures, OtherNumbersStayAsTheyAre) {
  const Layer a(32, 32, 3);
  const Tensor x = half(randn(Dims{1, 32, 6, 6}));
  // A norm in training, numbers beside floats, weights that are computed.
  const Tensor wide = to(randn(Dims{6}), DType::kFloat64);
  const auto model = [&] {
    const Tensor mean = clone(a.mean), variance = clone(a.variance);
    const Tensor y = batch_norm(a(x), {}, {}, mean, variance, true, 0.1, 1e-5);
    const Tensor w = mul(a.w, 2);
    return add(add(y, to(wide, kind)),
               convolution(relu(y), w, {}, Dims{1}, Dims{1}, Dims{1}, false,
                           Dims{0}, 1));
  };
  EXPECT_LE(distance(Captured(model).replayed(), model()), 2 * rounded());
}

}  // namespace
}  // namespace hotaru::graph
