// Convolutions that take along what follows them.
#include <gtest/gtest.h>

#include <algorithm>

#include "hotaru/graph/graph.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/norm/norm.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "tests/cpp/captured_graph.h"

namespace hotaru::graph {
namespace {

struct Shape {
  int64_t channels, outputs, size, kernel, stride, groups;
};

/// The kernels that what() is captured as, and its result after a replay.
template <class F>
std::pair<std::vector<std::string>, Tensor> run(const F& what,
                                                Options options = {}) {
  Tensor result;
  const Ref<Graph> graph =
      captured_graph([&] { result = what(); }, std::move(options));
  graph->replay();
  std::vector<std::string> names;
  for (const auto& node : graph->program().nodes())
    names.push_back(node->name());
  return {names, result};
}

Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias,
              int64_t stride, int64_t padding, int64_t groups) {
  return convolution(x, w, bias, Dims{stride}, Dims{padding}, Dims{1}, false,
                     Dims{0}, groups);
}

double distance(const Tensor& a, const Tensor& b) {
  double most = 0;
  for (int64_t i = 0; i < a.numel(); ++i)
    most = std::max(most, std::abs(double(a.data<float>()[i]) -
                                   double(b.data<float>()[i])));
  return most;
}

class FuseConv : public testing::TestWithParam<Shape> {};

TEST_P(FuseConv, NormResidualAndRectifierGiveTheSameValues) {
  const Shape s = GetParam();
  const Tensor x = randn(Dims{2, s.channels, s.size, s.size});
  const Tensor w =
      randn(Dims{s.outputs, s.channels / s.groups, s.kernel, s.kernel});
  const Tensor bias = randn(Dims{s.outputs});
  const Tensor mean = randn(Dims{s.outputs}), var = rand(Dims{s.outputs});
  const Tensor weight = randn(Dims{s.outputs}), shift = randn(Dims{s.outputs});
  const auto conv = [&] {
    return conv2d(x, w, bias, s.stride, s.kernel / 2, s.groups);
  };
  const Tensor more = randn(conv().sizes());
  const auto model = [&] {
    const Tensor y =
        batch_norm(conv(), weight, shift, mean, var, false, 0.1, 1e-5);
    return relu(add(y, more));
  };
  const Tensor want = model();
  const auto [names, got] = run(model);
  EXPECT_EQ(names, std::vector<std::string>{"conv_fused"});
  // Products differ by a rounding of values of this size.
  EXPECT_LE(distance(got, want), 1e-5 * double(s.channels * s.kernel));
  const auto [apart, same] = run(model, Options{{}, true});
  EXPECT_GT(apart.size(), 1u);
  EXPECT_EQ(distance(same, want), 0);
  EXPECT_EQ(distance(run([&] { return relu(conv()); }).second, relu(conv())),
            0);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FuseConv,
    testing::Values(Shape{3, 8, 9, 3, 1, 1}, Shape{8, 8, 7, 3, 1, 8},
                    Shape{8, 8, 12, 3, 2, 8}, Shape{4, 6, 3, 3, 1, 1},
                    Shape{4, 6, 1, 1, 1, 1}, Shape{6, 6, 20, 5, 2, 2}));

TEST(FuseConv, WhatSomebodyElseReadsStaysApart) {
  const Tensor x = randn(Dims{1, 2, 8, 8}), w = randn(Dims{2, 2, 3, 3});
  const Tensor none;
  const auto conv = [&] { return conv2d(x, w, none, 1, 1, 1); };
  // The convolution's own result is wanted, too.
  const auto both = [&] {
    const Tensor y = conv();
    return add(relu(y), y);
  };
  EXPECT_EQ(distance(run(both).second, both()), 0);
  // Its input changes before the sum is known.
  const Tensor want = add(conv(), add(x, x));
  const auto changed = [&] {
    const Tensor copy = add(x, 0);
    const Tensor y = conv2d(copy, w, none, 1, 1, 1);
    add_(copy, copy);
    return add(y, copy);
  };
  EXPECT_EQ(distance(run(changed).second, want), 0);
}

}  // namespace
}  // namespace hotaru::graph
