#include "hotaru/backend/cpu/conv/conv_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "hotaru/core/printing/concat.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/backend/conv_cases.h"

namespace hotaru {
namespace {

using Sizes = ConvGeometry::Sizes;

template <class T>
void check(const ConvGeometry& g) {
  SCOPED_TRACE(concat("batch ", g.batch, " channels ", g.in_channels, "->",
                      g.out_channels, " groups ", g.groups, " in ", g.in[0],
                      "x", g.in[1], "x", g.in[2], " kernel ", g.kernel[0], "x",
                      g.kernel[1], "x", g.kernel[2], " stride ", g.stride[1],
                      ",", g.stride[2], " padding ", g.padding[2], " dilation ",
                      g.dilation[2]));
  ASSERT_GT(g.out_positions(), 0);
  const ConvCase c(g);
  // Exact: every sum is a small integer.
  const auto tx = cast<T>(c.x), tw = cast<T>(c.w), tb = cast<T>(c.bias),
             tdy = cast<T>(c.dy);
  std::vector<double> y = c.y;
  std::vector<T> got(y.size(), T(NAN));
  conv_forward<T>(g, tx.data(), tw.data(), tb.data(), Activation::kNone,
                  got.data());
  EXPECT_EQ(got, cast<T>(y)) << "forward";
  const PackedConvWeight<T> packed(g, tw.data());
  got.assign(y.size(), T(NAN));
  conv_forward<T>(g, tx.data(), tw.data(), tb.data(), Activation::kRelu,
                  got.data(), &packed);
  for (double& v : y) v = std::max(v, 0.0);
  EXPECT_EQ(got, cast<T>(y)) << "forward, packed, ReLU";
  got.assign(c.x.size(), T(NAN));
  conv_backward_data<T>(g, tdy.data(), tw.data(), nullptr, got.data());
  EXPECT_EQ(got, cast<T>(c.dx)) << "gradient of x";
  conv_backward_data<T>(g, tdy.data(), tw.data(), cast<T>(c.shift).data(),
                        got.data());
  EXPECT_EQ(got, cast<T>(c.shifted_dx(g))) << "transposed, with a bias";
  got.assign(c.w.size(), T(NAN));
  conv_backward_weight<T>(g, tdy.data(), tx.data(), got.data());
  EXPECT_EQ(got, cast<T>(c.dw)) << "gradient of weight";
}

/// Gradients of x come by pieces of channels and of positions.
TEST(ConvKernel, MoreChannelsAndPositionsThanAPiece) {
  ConvGeometry g;
  g.in_channels = 38;
  g.out_channels = 3;
  g.in = {1, 47, 90};
  g.kernel = {1, 2, 2};
  for (int64_t stride : {1, 2})
    for (int64_t padding : {0, 1}) {
      g.stride = {1, stride, stride};
      g.padding = {0, padding, padding};
      const int saved = get_num_threads();
      for (int threads : {1, 3}) {
        set_num_threads(threads);
        check<float>(g);
      }
      set_num_threads(saved);
    }
}

/// By blocks of channels, by one product for few positions, by turned kernels.
TEST(ConvKernel, EveryWayOfGradients) {
  struct Case {
    int64_t batch, in, out, groups, height, width, kernel, stride, padding,
        dilation;
  };
  constexpr Case kCases[] = {
      {2, 9, 17, 1, 17, 19, 3, 1, 1, 1},   {1, 33, 16, 1, 24, 23, 3, 1, 2, 2},
      {3, 8, 40, 1, 32, 20, 3, 2, 1, 1},   {2, 16, 8, 1, 19, 31, 5, 1, 3, 1},
      {2, 24, 20, 1, 4, 4, 3, 1, 1, 1},    {3, 12, 9, 1, 7, 5, 3, 2, 1, 1},
      {2, 40, 12, 1, 13, 9, 1, 1, 0, 1},   {2, 12, 40, 1, 9, 9, 1, 2, 0, 1},
      {3, 20, 20, 20, 11, 14, 3, 1, 1, 1}, {2, 18, 18, 18, 12, 13, 3, 2, 1, 1},
      {2, 6, 6, 6, 15, 15, 7, 1, 3, 1},    {2, 5, 5, 5, 16, 12, 3, 3, 2, 2},
      {8, 16, 12, 1, 1, 200, 1, 1, 0, 1},
  };
  const int saved = get_num_threads();
  for (const Case& c : kCases) {
    ConvGeometry g;
    g.batch = c.batch;
    g.in_channels = c.in;
    g.out_channels = c.out;
    g.groups = c.groups;
    g.in = {1, c.height, c.width};
    g.kernel = {1, std::min(c.kernel, c.height), c.kernel};
    g.stride = {1, c.height > 1 ? c.stride : 1, c.stride};
    g.padding = {0, c.height > 1 ? c.padding : 0, c.padding};
    g.dilation = {1, c.height > 1 ? c.dilation : 1, c.dilation};
    SCOPED_TRACE(&c - kCases);
    for (int threads : {1, 3}) {
      set_num_threads(threads);
      check<float>(g);
      check<double>(g);
    }
  }
  set_num_threads(saved);
}

TEST(ConvKernel, SileroLayers) {
  ConvGeometry g;
  g.out_channels = 258;
  g.in = {1, 1, 640};
  g.kernel = {1, 1, 256};
  g.stride = {1, 1, 128};
  check<float>(g);
  g = {};
  g.in_channels = 129;
  g.out_channels = 128;
  g.in = {1, 1, 4};
  g.kernel = {1, 1, 3};
  g.padding = {0, 0, 1};
  check<float>(g);
  g.stride = {1, 1, 2};
  check<float>(g);
}

TEST(ConvKernel, OneByOneIsAProduct) {
  ConvGeometry g;
  g.batch = 2;
  g.in_channels = 6;
  g.out_channels = 10;
  g.in = {1, 5, 9};
  check<float>(g);
  g.stride = {1, 2, 2};
  check<float>(g);
  g.padding = {0, 1, 1};
  check<float>(g);
}

TEST(ConvKernel, OutputsOfOnePosition) {
  ConvGeometry g;
  g.batch = 3;
  g.in_channels = 4;
  g.out_channels = 20;
  g.in = g.kernel = {1, 3, 3};
  check<float>(g);
  g.groups = 2;
  check<double>(g);
}

TEST(ConvKernel, ManyImagesOfFewPositions) {
  ConvGeometry g;
  g.batch = 150;
  g.in_channels = 3;
  g.out_channels = 17;
  g.in = {1, 3, 4};
  g.kernel = {1, 2, 2};
  check<float>(g);
}

TEST(ConvKernel, GeometriesThatAlternateKeepTheirLayouts) {
  for (int round = 0; round < 2; ++round) {
    for (int64_t width = 4; width < 30; ++width) {
      ConvGeometry g;
      g.out_channels = 3;
      g.in = {1, 3, width};
      g.kernel = {1, 2, 2};
      check<float>(g);
    }
  }
}

TEST(ConvKernel, DeepPatchesCrossBlocks) {
  ConvGeometry g;
  g.in_channels = 100;
  g.out_channels = 20;
  g.in = {1, 8, 9};
  g.kernel = {1, 3, 3};
  g.padding = {0, 1, 1};
  check<float>(g);
}

TEST(ConvKernel, RandomGeometries) {
  const int saved = get_num_threads();
  std::mt19937 random(7);
  const auto draw = [&](int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  };
  for (int round = 0; round < 300; ++round) {
    ConvGeometry g;
    const auto dims = size_t(draw(1, 3));
    g.batch = draw(1, 3);
    g.groups = draw(0, 2) ? 1 : draw(2, 4);
    g.in_channels = g.groups * (draw(0, 2) ? draw(1, 5) : 1);
    g.out_channels = g.groups * draw(1, 20);
    for (size_t d = 3 - dims; d < 3; ++d) {
      g.in[d] = draw(1, dims == 3 ? 9 : dims == 2 ? 20 : 150);
      g.kernel[d] = draw(1, 4);
      g.stride[d] = draw(1, 5);
      g.padding[d] = draw(0, 2);
      g.dilation[d] = draw(1, 2);
    }
    if (g.out_positions() == 0) continue;
    set_num_threads(int(draw(1, 3)));
    if (round % 4 == 0)
      check<double>(g);
    else
      check<float>(g);
    if (::testing::Test::HasFailure()) break;
  }
  set_num_threads(saved);
}

TEST(ConvKernel, ActivationsFollowTheBias) {
  ConvGeometry g;
  g.in_channels = g.out_channels = g.groups = 2;
  g.in = {1, 1, 20};
  g.kernel = {1, 1, 2};
  const std::vector<float> x(40, 0.25f), w(4, 1.0f), bias{0.5f, -1.0f};
  std::vector<float> y(38);
  conv_forward<float>(g, x.data(), w.data(), bias.data(), Activation::kSigmoid,
                      y.data());
  for (size_t i = 0; i < y.size(); ++i) {
    const double want = 1 / (1 + std::exp(-(0.5 + double(bias[i / 19]))));
    ASSERT_NEAR(double(y[i]), want, 1e-7);
  }
}

TEST(ConvGeometry, KernelsThatDoNotFitHaveNoOutput) {
  ConvGeometry g;
  g.in = {1, 4, 4};
  g.kernel = {1, 3, 3};
  g.dilation = {1, 2, 2};
  EXPECT_EQ(g.out(), (Sizes{1, 0, 0}));
  g.padding = {0, 1, 1};
  g.stride = {1, 2, 2};
  EXPECT_EQ(g.out(), (Sizes{1, 1, 1}));
}

}  // namespace
}  // namespace hotaru
