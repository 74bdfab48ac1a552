// Chains of convolutions on pictures in blocks of channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "hotaru/graph/graph.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/norm/norm.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/pool/pool.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/captured_graph.h"

namespace hotaru::graph {
namespace {

using Names = std::vector<std::string>;

// Values of size 1 through sums of some hundred products with weights of size
// 0.1, each rounded at 6e-8 of at most 10.
constexpr double kTolerance = 1e-4;

/// A convolution with its norm.
struct Layer {
  Layer(int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride = 1,
        int64_t groups = 1)
      : w(mul(randn(Dims{outputs, inputs / groups, kernel, kernel}), 0.1)),
        mean(mul(randn(Dims{outputs}), 0.1)),
        variance(add(rand(Dims{outputs}), 0.5)),
        weight(add(rand(Dims{outputs}), 0.5)),
        bias(randn(Dims{outputs})),
        stride(stride),
        groups(groups) {}

  Tensor operator()(const Tensor& x) const {
    const Tensor y = convolution(x, w, {}, Dims{stride}, Dims{w.size(2) / 2},
                                 Dims{1}, false, Dims{0}, groups);
    return batch_norm(y, weight, bias, mean, variance, false, 0.1, 1e-5);
  }

  Tensor w, mean, variance, weight, bias;
  int64_t stride, groups;
};

Tensor pooled(const Tensor& x) {
  return std::get<0>(
      max_pool(x, 2, {Dims{3}, Dims{2}, Dims{1}, Dims{1}, false}, false));
}

TEST(BlockChannels, ANetworkStaysInBlocksFromEndToEnd) {
  const Layer first(3, 32, 3, 2), deep(32, 32, 3, 1, 32), point(32, 48, 1),
      last(48, 48, 3, 2), cut(48, 48, 1, 2);
  const Tensor x = randn(Dims{2, 3, 21, 19});
  const auto model = [&] {
    Tensor y = pooled(relu(first(x)));
    y = relu(point(relu(deep(y))));
    y = silu(relu(add(last(y), cut(y))));
    return adaptive_avg_pool(y, Dims{1, 1});
  };
  const Captured graph(model);
  EXPECT_EQ(
      graph.names(),
      (Names{"blocked_conv", "blocked_max_pool", "blocked_conv", "blocked_conv",
             "blocked_conv", "blocked_conv", "silu", "blocked_mean"}));
  EXPECT_EQ(graph.graph->program().once().size(), 5u);
  const Tensor old = graph.replayed();
  EXPECT_LE(distance(old, model()), kTolerance);
  // New weights and statistics, by whatever way.
  mul_(deep.w, 2);
  fill_(make_alias(last.mean), 0.25);
  point.bias.data<float>()[7] = 3;
  const Tensor want = model();
  EXPECT_LE(distance(graph.replayed(), want), kTolerance);
  EXPECT_GT(distance(want, old), 0.01);
}

TEST(BlockChannels, ResultsAndOtherReadersGetPlainPictures) {
  const Layer a(16, 16, 3), b(16, 16, 3);
  const Tensor x = randn(Dims{1, 16, 9, 9});
  Tensor middle;
  const auto model = [&] {
    const Tensor y = relu(a(x));
    middle = mul(flatten(y, 1), 2);         // looks into y otherwise
    return add(softmax(y, 1), relu(b(y)));  // and so does the softmax
  };
  const Captured graph(model);
  const Tensor got = graph.replayed(), got_middle = clone(middle);
  EXPECT_LE(distance(got, model()), kTolerance);
  EXPECT_LE(distance(got_middle, middle), kTolerance);
  const Names names = graph.names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "unblock_channels"), 2);
  EXPECT_EQ(std::count(names.begin(), names.end(), "block_channels"), 1);
}

TEST(BlockChannels, WritesIntoAPictureAreSeen) {
  const Layer a(16, 16, 3), b(16, 32, 3);
  const Tensor x = randn(Dims{1, 16, 6, 6});
  const auto model = [&] {
    const Tensor y = a(x);
    fill_(narrow(y, 2, 1, 3), 4);  // a part of it
    const Tensor z = b(y);
    copy_(y, mul(y, y));  // all of it
    return add(pooled(z), pooled(b(y)));
  };
  EXPECT_LE(distance(Captured(model).replayed(), model()), kTolerance);
}

TEST(BlockChannels, CallsInPlaceReadWhatConvolutionsWrote) {
  const Layer a(32, 32, 3), b(32, 32, 3);
  const Tensor x = randn(Dims{1, 32, 6, 6});
  const auto model = [&](bool before, bool number) {
    const Tensor y = a(x);
    const Tensor first = before ? b(y) : Tensor();
    number ? mul_(y, 2) : mul_(y, y);
    const Tensor second = b(y);
    return before ? add(first, second) : second;
  };
  for (const bool before : {false, true})
    for (const bool number : {false, true}) {
      const auto run = [&] { return model(before, number); };
      // Squares of values up to 10, through 288 products with weights of 0.1.
      EXPECT_LE(distance(Captured(run).replayed(), run()), 20 * kTolerance);
    }
}

TEST(BlockChannels, PicturesOfWholeBlocksAreJoinedInBlocks) {
  const Layer a(16, 32, 3), b(16, 48, 1), c(96, 16, 3);
  const Tensor x = randn(Dims{2, 16, 7, 5}), plain = randn(Dims{2, 16, 7, 5});
  const auto model = [&] { return c(cat({relu(a(x)), plain, b(x)}, 1)); };
  const Captured graph(model);
  const Names names = graph.names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "cat"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "unblock_channels"), 1);
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  // Others are joined as before: along height, and of parts of blocks.
  const Layer part(16, 20, 3), d(36, 16, 1), e(32, 16, 1);
  const auto others = [&] {
    const Tensor y = relu(a(x));
    return add(d(cat({part(x), plain}, 1)), narrow(e(cat({y, y}, 2)), 2, 3, 7));
  };
  EXPECT_LE(distance(Captured(others).replayed(), others()), kTolerance);
}

TEST(BlockChannels, PixelsBecomeRectanglesInBlocks) {
  for (const auto& [kh, kw, o, biased] :
       {std::tuple{2, 2, 32, true}, {3, 2, 16, false}, {1, 4, 48, true}}) {
    const Tensor x = randn(Dims{2, 24, 5, 6});
    const Tensor w = mul(randn(Dims{24, o, kh, kw}), 0.1);
    const Tensor bias = biased ? randn(Dims{o}) : Tensor();
    const Layer last(o, 16, 3);
    const auto up = [&](const Tensor& from) {
      return convolution(from, w, bias, Dims{kh, kw}, Dims{0}, Dims{1}, true,
                         Dims{0}, 1);
    };
    const auto model = [&] { return last(relu(up(x))); };
    const Captured graph(model);
    const Names names = graph.names();
    EXPECT_EQ(std::count(names.begin(), names.end(), "conv_data"), 0);
    EXPECT_EQ(std::count(names.begin(), names.end(), "unblock_channels"), 1);
    EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
    mul_(w, 2);  // is packed anew, through both steps
    if (biased) fill_(bias, 3);
    EXPECT_LE(distance(graph.replayed(), model()), 2 * kTolerance);
    // A result of the graph's own.
    EXPECT_LE(distance(Captured([&] { return up(x); }).replayed(), up(x)),
              kTolerance);
  }
  // One dimension, and those that overlap or leave gaps.
  const Tensor line = randn(Dims{2, 16, 9}), w = randn(Dims{16, 32, 2});
  for (const auto& [stride, padding, extra] :
       {std::tuple{2, 0, 0}, {1, 0, 0}, {3, 0, 1}, {2, 1, 1}}) {
    const auto up = [&] {
      return convolution(line, w, {}, Dims{stride}, Dims{padding}, Dims{1},
                         true, Dims{extra}, 1);
    };
    const Captured graph([&] { return relu(up()); });
    const Names names = graph.names();
    EXPECT_EQ(std::count(names.begin(), names.end(), "conv_data"),
              stride == 2 && padding == 0 ? 0 : 1);
    EXPECT_LE(distance(graph.replayed(), relu(up())), 10 * kTolerance);
  }
}

TEST(BlockChannels, ZerosAroundPicturesArePadding) {
  const Layer first(3, 32, 3), wide(32, 32, 3), deep(32, 32, 3, 1, 32),
      strided(32, 48, 3, 2), point(32, 16, 1);
  const Tensor x = randn(Dims{2, 3, 9, 14}), tight = randn(Dims{2, 3, 4, 4});
  for (const Layer* layer : {&wide, &deep, &strided, &point})
    for (const Dims& pads :
         {Dims{2, 0}, Dims{0, 1, 1, 0}, Dims{0, 0, 5, 2}, Dims{3, 4, 2, 1}})
      for (const Tensor& from : {x, tight}) {
        const auto model = [&] {
          return relu((*layer)(constant_pad_nd(relu(first(from)), pads, 0)));
        };
        const Captured graph(model);
        const Names names = graph.names();
        EXPECT_EQ(std::count(names.begin(), names.end(), "pad"), 0);
        EXPECT_EQ(std::count(names.begin(), names.end(), "unblock_channels"),
                  1);
        EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
      }
  // A plain picture, too; other numbers, channels and readers need it made.
  const auto plain = [&] { return first(constant_pad_nd(x, Dims{1, 2}, 0)); };
  EXPECT_LE(distance(Captured(plain).replayed(), plain()), kTolerance);
  const auto seen = [&] {
    const Tensor y = relu(first(x));
    const Tensor ones = constant_pad_nd(y, Dims{1, 1}, 1);
    const Tensor both = constant_pad_nd(y, Dims{1, 1}, 0);
    const Tensor late = constant_pad_nd(y, Dims{2, 0}, 0);
    mul_(y, 2);
    const Tensor all =
        add(add(wide(ones), wide(both)), add(wide(late), softmax(both, 1)));
    return add(all, mul(sum(y, Dims{0, 1, 2, 3}, false), 1e-3));
  };
  const Captured graph(seen);
  const Names names = graph.names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "pad"), 3);
  EXPECT_LE(distance(graph.replayed(), seen()), kTolerance);
}

TEST(BlockChannels, GroupsThatFillBlocksStayInThem) {
  const Layer first(3, 64, 3), narrow_groups(64, 64, 3, 1, 8),
      wide_groups(64, 32, 1, 1, 2), others(32, 48, 3, 1, 4);
  const Tensor x = randn(Dims{2, 3, 7, 6});
  const auto model = [&] {
    return relu(wide_groups(relu(narrow_groups(relu(first(x))))));
  };
  const Captured graph(model);
  EXPECT_EQ(graph.names(), (Names{"blocked_conv", "blocked_conv",
                                  "blocked_conv", "unblock_channels"}));
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  const auto apart = [&] { return others(model()); };  // of 8 and 12
  EXPECT_LE(distance(Captured(apart).replayed(), apart()), kTolerance);
}

TEST(BlockChannels, GroupsThatFillPartOfTheLastBlockStayInIt) {
  const Layer first(3, 40, 3), groups(40, 40, 3, 2, 5), last(40, 24, 1);
  const Tensor x = randn(Dims{2, 3, 9, 8});
  // Sigmoids of the zeros beyond 40 are none: they must not be read.
  const auto model = [&] { return last(sigmoid(groups(sigmoid(first(x))))); };
  const Captured graph(model);
  EXPECT_EQ(graph.names(), (Names{"blocked_conv", "blocked_conv",
                                  "blocked_conv", "unblock_channels"}));
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
}

TEST(BlockChannels, NormsBeforeConvolutionsStayInBlocks) {
  const Layer first(3, 48, 3), second(48, 32, 1);
  const Tensor x = randn(Dims{2, 3, 7, 6});
  const auto norm = [](const Tensor& y, const Layer& like) {
    return relu(batch_norm(y, {}, like.bias, like.mean, like.variance, false,
                           0.1, 1e-3));
  };
  const Layer of_48(1, 48, 1);
  const auto model = [&] {
    const Tensor y = first(x);
    return add(second(norm(y, of_48)), second(relu(y)));
  };
  const Captured graph(model);
  const Names names = graph.names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "batch_norm"), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), "unblock_channels"), 1);
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  fill_(of_48.mean, 0.5);  // is packed anew
  mul_(of_48.variance, 2);
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  // In training, and where the statistics are written later in the graph.
  const auto trained = [&] {
    const Tensor mean = clone(of_48.mean), variance = clone(of_48.variance);
    return second(
        relu(batch_norm(first(x), {}, {}, mean, variance, true, 0.1, 1e-3)));
  };
  EXPECT_LE(distance(Captured(trained).replayed(), trained()), kTolerance);
  const Tensor mean = clone(of_48.mean);
  const auto written = [&] {
    fill_(mean, 0.25);
    const Tensor y = second(relu(
        batch_norm(first(x), {}, {}, mean, of_48.variance, false, 0.1, 1e-3)));
    fill_(mean, 8);
    return y;
  };
  const Captured changes(written);
  changes.replayed();
  EXPECT_LE(distance(changes.replayed(), written()), kTolerance);
}

TEST(BlockChannels, AResultOfElementwiseCallsIsPlain) {
  const Layer a(16, 16, 3);
  const Tensor x = randn(Dims{1, 16, 7, 7});
  const auto model = [&] {
    const Tensor y = a(x);
    return add(pooled(y), pooled(y));
  };
  EXPECT_LE(distance(Captured(model).replayed(), model()), kTolerance);
}

struct Picture {
  int64_t batch, inputs, outputs, height, width, padding;
};

class WinogradConv : public testing::TestWithParam<Picture> {};

TEST_P(WinogradConv, GivesTheValuesOfTheDirectOne) {
  const Picture p = GetParam();
  const Tensor x = randn(Dims{p.batch, p.inputs, p.height, p.width});
  const Tensor w = mul(randn(Dims{p.outputs, p.inputs, 3, 3}), 0.1);
  const Tensor bias = randn(Dims{p.outputs});
  const auto conv = [&] {
    return convolution(x, w, bias, Dims{1}, Dims{p.padding}, Dims{1}, false,
                       Dims{0}, 1);
  };
  const Tensor more = randn(conv().sizes());
  const auto sum = [&] { return add(conv(), more); };
  for (const int ending : {0, 1, 2, 3}) {
    const auto run = [&] {
      return ending == 0   ? conv()
             : ending == 1 ? relu(sum())
             : ending == 2 ? silu(sum())
                           : clamp(conv(), Scalar(0.5), Scalar(2.0));
    };
    const Captured graph(run);
    const Names names = graph.names();
    EXPECT_EQ(std::count(names.begin(), names.end(), "winograd_conv"), 1);
    EXPECT_EQ(graph.graph->program().once().size(), 1u);
    const Tensor got = graph.replayed();
    EXPECT_LE(distance(got, run()), kTolerance);
    const Captured direct(run, Options{{"winograd"}, false});
    EXPECT_LE(distance(got, direct.replayed()), kTolerance);
    const int threads = get_num_threads();
    set_num_threads(3 - threads);
    EXPECT_EQ(distance(got, graph.replayed()), 0);
    set_num_threads(threads);
    // New weights go through both forms.
    mul_(w, 0.5);
    EXPECT_LE(distance(graph.replayed(), run()), kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pictures, WinogradConv,
    testing::Values(Picture{1, 32, 64, 14, 14, 1}, Picture{2, 24, 24, 7, 9, 1},
                    Picture{1, 33, 40, 10, 10, 0}, Picture{3, 70, 25, 5, 6, 2},
                    Picture{1, 48, 80, 31, 3, 1}, Picture{16, 32, 32, 1, 1, 1},
                    Picture{1, 64, 48, 60, 61, 1}));

/// The calls that a network is, in which x * sigmoid(x) may be two of them.
TEST(BlockChannels, ActivationsAreEndsOfConvolutions) {
  // 28 channels do not fill their blocks.
  const Layer first(3, 32, 3, 2), deep(32, 32, 3, 1, 32),
      wide(28, 28, 5, 1, 28), point(32, 28, 1), last(28, 24, 3);
  const Tensor x = randn(Dims{2, 3, 25, 23});
  const auto by_hand = [](const Tensor& t) { return mul(t, sigmoid(t)); };
  const auto model = [&] {
    Tensor y = by_hand(first(x));
    y = clamp(deep(y), Scalar(0.0), Scalar(6.0));
    y = hardtanh(point(y), -2, 2);
    y = hardswish(wide(y));
    y = gelu(last(y), "none");
    return adaptive_avg_pool(y, Dims{1, 1});
  };
  const Captured graph(model);
  EXPECT_EQ(graph.names(),
            (Names{"blocked_conv", "blocked_conv", "blocked_conv",
                   "blocked_conv", "winograd_conv", "blocked_mean"}));
  const Tensor got = graph.replayed();
  EXPECT_LE(distance(got, model()), kTolerance);
  const int threads = get_num_threads();
  set_num_threads(3 - threads);
  EXPECT_EQ(distance(got, graph.replayed()), 0);
  set_num_threads(threads);
  // To the bit where that is asked for: two calls become the one of "silu".
  const Captured same(model, Options{{}, true});
  EXPECT_EQ(distance(same.replayed(), model()), 0);
  const Names names = same.names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "silu"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "sigmoid"), 0);
}

TEST(BlockChannels, SqueezeAndExcitationStayInBlocks) {
  for (const int64_t width : {32, 40}) {
    const Layer in(3, width, 3), out(width, 24, 1);
    const Tensor down = mul(randn(Dims{5, width, 1, 1}), 0.3),
                 up = mul(randn(Dims{width, 5, 1, 1}), 0.3), a = randn(Dims{5}),
                 b = randn(Dims{width});
    const auto one = [](const Tensor& x, const Tensor& w, const Tensor& bias) {
      return convolution(x, w, bias, Dims{1}, Dims{0}, Dims{1}, false, Dims{0},
                         1);
    };
    const Tensor x = randn(Dims{2, 3, 9, 11});
    const auto model = [&] {
      const Tensor y = silu(in(x));
      const Tensor mean = adaptive_avg_pool(y, Dims{1, 1});
      const Tensor s = sigmoid(one(silu(one(mean, down, a)), up, b));
      return out(mul(y, s));
    };
    const Captured graph(model);
    if (width == 32) {
      EXPECT_EQ(
          graph.names(),
          (Names{"blocked_conv", "blocked_mean", "blocked_conv", "blocked_conv",
                 "blocked_scale", "blocked_conv", "unblock_channels"}));
    }
    EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  }
}

/// hardtanh in place.
void limit_(const Tensor& y) {
  static const elementwise::Spec kSpec{kernel("hardtanh")};
  elementwise::unary_into(kSpec, y, y, {Scalar(-1.0), Scalar(1.0)});
}

TEST(BlockChannels, WhatOthersReadOfAConvolutionHasNoEnding) {
  const Layer a(16, 16, 3), b(16, 20, 3);
  const Tensor x = randn(Dims{1, 16, 9, 9});
  Tensor kept;
  const auto twice = [&] {  // the sum and what becomes of it
    const Tensor y = a(x);
    return add(b(silu(y)), b(y));
  };
  EXPECT_LE(distance(Captured(twice).replayed(), twice()), kTolerance);
  const auto later = [&] {  // after somebody has read it
    const Tensor y = a(x);
    const Tensor z = b(y);
    limit_(y);
    return add(z, b(y));
  };
  EXPECT_LE(distance(Captured(later).replayed(), later()), kTolerance);
  const auto in_place = [&] {
    const Tensor y = a(x);
    limit_(y);
    return add(b(y), b(y));
  };
  const Captured graph(in_place);
  EXPECT_LE(distance(graph.replayed(), in_place()), kTolerance);
  const Names names = graph.names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "hardtanh"), 0);
  const auto result = [&] {  // somebody holds the sum
    kept = a(x);
    return silu(kept);
  };
  const Captured both(result);
  const Tensor got = both.replayed(), got_kept = clone(kept);
  EXPECT_LE(distance(got, result()), kTolerance);
  EXPECT_LE(distance(got_kept, kept), kTolerance);
  // Limits in the wrong order.
  const auto crossed = [&] { return clamp(a(x), Scalar(1.0), Scalar(-1.0)); };
  EXPECT_LE(distance(Captured(crossed).replayed(), crossed()), kTolerance);
}

TEST(BlockChannels, PicturesOfOnePixelLieAlikeInBothForms) {
  const Layer a(16, 32, 1), b(32, 48, 1);
  const Tensor x = randn(Dims{3, 16, 1, 1});
  const auto model = [&] { return softmax(b(silu(a(x))), 1); };
  const Captured graph(model);
  EXPECT_EQ(graph.names(), (Names{"blocked_conv", "blocked_conv", "softmax"}));
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  const auto whole = [&] { return sigmoid(a(x)); };
  EXPECT_EQ(Captured(whole).names(), Names{"blocked_conv"});
  EXPECT_LE(distance(Captured(whole).replayed(), whole()), kTolerance);
}

/// As ConvNeXt has it: a norm and products with the channels last, between
/// wide depthwise kernels.
TEST(BlockChannels, ChannelsGoLastAndBackWithoutAnyOtherCopy) {
  for (const int64_t width : {32, 28}) {
    const Layer in(3, width, 4, 4), deep(width, width, 7, 1, width),
        next(width, 48, 2, 2);
    const Tensor w = mul(randn(Dims{width, width}), 0.1),
                 scale = randn(Dims{width});
    const Tensor x = randn(Dims{2, 3, 28, 36});
    const auto rows = [](const Tensor& t) {
      return permute(t, Dims{0, 2, 3, 1});
    };
    const auto back = [](const Tensor& t) {
      return permute(t, Dims{0, 3, 1, 2});
    };
    // No norm of batches behind these, for which pictures are copied.
    const auto conv = [](const Layer& l, const Tensor& t) {
      return convolution(t, l.w, l.bias, Dims{l.stride}, Dims{l.w.size(2) / 2},
                         Dims{1}, false, Dims{0}, l.groups);
    };
    const auto model = [&] {
      Tensor y = back(layer_norm(rows(conv(in, x)), Dims{width}));
      for (int i = 0; i < 2; ++i) {
        const Tensor z = layer_norm(rows(conv(deep, y)), Dims{width});
        y = add(y, back(mul(linear(z, w), scale)));
      }
      return conv(next, y);
    };
    const Captured graph(model);
    const Names names = graph.names();
    for (const std::string& name : names)
      EXPECT_EQ(name.find("copy_"), std::string::npos) << name;
    EXPECT_EQ(std::count(names.begin(), names.end(), "unblock_channels"), 4);
    EXPECT_EQ(std::count(names.begin(), names.end(), "block_channels"), 3);
    EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  }
}

TEST(BlockChannels, OtherCopiesOfPicturesAreMade) {
  const Layer a(16, 32, 3), b(32, 16, 3), c(32, 16, 3);
  const Tensor x = randn(Dims{2, 16, 9, 7});
  const auto crossed = [&] {  // rows and columns
    const Tensor y = a(x);
    return b(clone(transpose(y, 2, 3)));
  };
  EXPECT_LE(distance(Captured(crossed).replayed(), crossed()), kTolerance);
  const auto part = [&] {
    const Tensor y = a(x);
    const Tensor rows = empty(Dims{2, 9, 7, 32});
    copy_(narrow(rows, 1, 0, 4), narrow(permute(y, Dims{0, 2, 3, 1}), 1, 3, 4));
    copy_(narrow(rows, 1, 4, 5), narrow(permute(y, Dims{0, 2, 3, 1}), 1, 0, 5));
    return add(b(permute(rows, Dims{0, 3, 1, 2})), c(y));
  };
  EXPECT_LE(distance(Captured(part).replayed(), part()), kTolerance);
  Tensor kept;
  const auto seen = [&] {  // what was copied changes, and so does the copy
    const Tensor y = a(x);
    kept = empty(Dims{2, 9, 7, 32});
    copy_(kept, permute(y, Dims{0, 2, 3, 1}));
    mul_(kept, 2);
    const Tensor plain = clone(permute(kept, Dims{0, 3, 1, 2}));
    mul_(plain, 3);
    return add(b(plain), c(y));
  };
  EXPECT_LE(distance(Captured(seen).replayed(), seen()), kTolerance);
}

TEST(BlockChannels, DoublesStayAsTheyAre) {
  const Tensor x = to(randn(Dims{1, 16, 8, 8}), DType::kFloat64);
  const Tensor w = to(randn(Dims{16, 16, 3, 3}), DType::kFloat64);
  const auto model = [&] {
    const Tensor y =
        convolution(x, w, {}, Dims{1}, Dims{1}, Dims{1}, false, Dims{0}, 1);
    return mul(y, sigmoid(y));
  };
  const Captured graph(model);
  EXPECT_EQ(graph.names(), (Names{"conv_forward", "silu"}));
  const Tensor got = graph.replayed(), want = model();
  for (int64_t i = 0; i < want.numel(); ++i)
    ASSERT_EQ(got.data<double>()[i], want.data<double>()[i]);
}

TEST(BlockChannels, OneDimension) {
  const Tensor x = randn(Dims{2, 4, 50});
  const Tensor w = mul(randn(Dims{32, 4, 5}), 0.1), bias = randn(Dims{32});
  const Tensor v = mul(randn(Dims{24, 32, 3}), 0.1);
  const auto model = [&] {
    const Tensor y = relu(
        convolution(x, w, bias, Dims{2}, Dims{2}, Dims{1}, false, Dims{0}, 1));
    return convolution(y, v, {}, Dims{1}, Dims{0}, Dims{2}, false, Dims{0}, 1);
  };
  const Captured graph(model);
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  EXPECT_EQ(graph.names(),
            (Names{"blocked_conv", "blocked_conv", "unblock_channels"}));
}

TEST(BlockChannels, SharedWeightsArePackedOnce) {
  const Layer a(16, 16, 3);
  const Tensor x = randn(Dims{1, 16, 5, 5});
  const auto model = [&] { return a(relu(a(relu(a(x))))); };
  const Captured graph(model);
  EXPECT_EQ(graph.graph->program().once().size(), 1u);
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
}

TEST(BlockChannels, WhatDoesNotFitStaysAsItIs) {
  const Tensor x = randn(Dims{1, 16, 8, 8});
  const Layer grouped(16, 32, 3, 1, 2), narrow(16, 4, 3);
  const auto names = [&](const auto& layer, Options options = {}) {
    return Captured([&] { return layer(x); }, std::move(options)).names();
  };
  EXPECT_EQ(names(grouped), Names{"conv_fused"});
  EXPECT_EQ(names(narrow), Names{"conv_fused"});
  const Layer fits(16, 16, 3);
  EXPECT_EQ(names(fits),
            (Names{"block_channels", "blocked_conv", "unblock_channels"}));
  EXPECT_EQ(names(fits, {{"block_channels"}, false}), Names{"conv_fused"});
  // A weight that the graph itself computes or writes, or that others write
  // unseen.
  const auto computed = [&](const Tensor& in) {
    return convolution(in, mul(fits.w, 2), {}, Dims{1}, Dims{1}, Dims{1}, false,
                       Dims{0}, 1);
  };
  EXPECT_EQ(names(computed), (Names{"mul", "conv_forward"}));
  const auto trained = [&](const Tensor& in) {
    const Tensor y = fits(in);
    add_(fits.w, fits.w);
    return y;
  };
  EXPECT_EQ(names(trained), (Names{"conv_fused", "add"}));
  fits.bias.storage()->expose();
  EXPECT_EQ(names(fits), Names{"conv_fused"});
}

TEST(BlockChannels, AResultThatTheGraphReadsAgainStaysPlain) {
  // As a backward pass would: it wants what the forward pass computed.
  const Layer a(16, 16, 3), b(16, 16, 3);
  const Tensor x = randn(Dims{1, 16, 8, 8});
  Tensor kept;
  const Captured graph([&] {
    kept = a(x);
    return b(relu(kept));
  });
  const Names names = graph.names();
  EXPECT_EQ(names.front(), "conv_fused");
  const Tensor got = graph.replayed();
  EXPECT_LE(distance(got, b(relu(a(x)))), kTolerance);
}

}  // namespace
}  // namespace hotaru::graph
