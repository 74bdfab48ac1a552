// Convolutions on blocked pictures of bfloat16, beside those of the same
// numbers as floats.
#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/backend/blocked_cases.h"

namespace hotaru {
namespace {

using namespace blocked_test;

/// Rounds what the kernel is given: products are then exact in float32.
void round_operands(Case& c, Form form) {
  const auto rounded = [](const Tensor& t) {
    return to(to(t, DType::kBFloat16), DType::kFloat32);
  };
  if (form.pairs) {
    c.x = rounded(c.x);
    c.w = rounded(c.w);
  }
  if (form.rounded && c.residual.defined()) c.residual = rounded(c.residual);
}

void check(Layer layer, Form form) {
  SCOPED_TRACE(
      concat(layer.text(), " pairs ", form.pairs, " rounded ", form.rounded));
  layer.norm = false;  // its scale would be rounded, too
  Case c(layer);
  round_operands(c, form);
  const Tensor want = c.want();
  const Tensor y = c.blocked(false, Where::kAnywhere, form);
  ASSERT_EQ(y.dtype(), form.rounded ? DType::kBFloat16 : DType::kFloat32);
  const Tensor wide = to(y, DType::kFloat32);
  expect_padding(wide, layer.o);
  const Tensor got = unblock(wide, layer.out());
  // The last rounding is half a unit of 8 bits, of what the sums may be.
  const double unit = form.rounded ? 0x1p-8 : 0, sums = c.tolerance();
  for (int64_t i = 0; i < want.numel(); ++i) {
    const double w = want.data<float>()[i];
    ASSERT_NEAR(got.data<float>()[i], w, sums + unit * (std::abs(w) + sums))
        << "element " << i;
  }
  EXPECT_TRUE(same_bits(y, c.blocked(true, Where::kAnywhere, form)))
      << "prepared";
}

constexpr Form kForms[] = {{true, false}, {true, true}, {false, true}};

/// Plain pictures are multiplied in pairs where instructions do it.
Form form_of(const Layer& l, size_t i) {
  return kForms[l.plain && !simd_has_bf16_products() ? 2 : i % 3];
}

TEST(ConvPairs, LayersOfNetworks) {
  for (const Layer& l : {square(64, 64, 28, 3), square(64, 128, 28, 3, 2),
                         square(256, 256, 7, 3),
                         // Several passes over the depth.
                         square(512, 512, 4, 3), square(512, 300, 9, 3),
                         square(64, 128, 28, 1, 2), square(256, 256, 6, 1),
                         square(256, 100, 28, 1), square(250, 96, 28, 1, 2)})
    for (const Form form : kForms) check(l, form);
  Layer first = square(3, 64, 56, 7, 2);
  first.plain = true;
  for (size_t i = 0; i < 3; ++i) check(first, form_of(first, i));
}

TEST(ConvPairs, Groups) {
  for (const auto& [c, o, groups] : {std::array<int64_t, 3>{64, 64, 8},
                                     {32, 32, 16},
                                     {96, 192, 3},
                                     {160, 80, 5},
                                     {40, 40, 5},
                                     {34, 34, 17}})
    for (const int64_t kernel : {1, 3}) {
      Layer l = square(c, o, 9, kernel, 2);
      l.groups = groups;
      l.residual = true;
      for (const Form form : kForms) check(l, form);
    }
}

TEST(ConvPairs, EveryWidthAndNumberOfBlocks) {
  for (int64_t width = 1; width <= 30; ++width)
    for (const int64_t outputs : {5, 32, 48, 64, 100}) {
      Layer l = square(17, outputs, 3, 3, width % 3 == 0 ? 2 : 1);
      l.in[1] = width;
      l.residual = width % 2;
      check(l, kForms[width % 2]);
      l.kernel = {1, 1};
      l.padding = {0, 0};
      check(l, kForms[1 - width % 2]);
    }
}

TEST(ConvPairs, RandomGeometries) {
  std::mt19937 random(9);
  for (int i = 0; i < 300 && !testing::Test::HasFatalFailure(); ++i) {
    Layer l = random_layer(random);
    check(l, form_of(l, size_t(i)));
  }
}

TEST(ConvPairs, TouchesNothingBesideItsOperands) {
  std::mt19937 random(10);
  for (int i = 0; i < 60; ++i) {
    Layer l = random_layer(random);
    SCOPED_TRACE(l.text());
    const Case c(l);
    const Form form = form_of(l, size_t(i) % 2);
    const Tensor want = c.blocked(false, Where::kAnywhere, form);
    for (const Where where : {Where::kBehindGuard, Where::kBeforeGuard})
      EXPECT_TRUE(same_bits(c.blocked(false, where, form), want));
  }
}

TEST(ConvPairs, PlainPicturesOfEveryWidth) {
  for (int64_t width = 1; width <= 40; ++width)
    for (const int64_t kernel : {1, 2, 3, 7}) {
      Layer l = square(3, 40, 7, kernel, 1 + width % 3);
      l.plain = true;
      l.in[1] = width;
      l.padding = {kernel / 2, width % 2 ? kernel / 2 : kernel};
      if (width % 5 == 0) l.dilation = {1, 2};
      if (!l.possible()) continue;
      l.residual = width % 2;
      for (size_t i = 0; i < 3; ++i) check(l, form_of(l, i));
    }
}

TEST(ConvPairs, EndingsAndChannelsBeyondTheLast) {
  using Kind = ConvEnding::Kind;
  for (int kind = int(Kind::kNone); kind <= int(Kind::kHardSwish); ++kind)
    for (const int64_t channels : {32, 21})
      for (const bool residual : {false, true}) {
        Layer l = square(channels, channels, 13, 3);
        l.relu = false;
        l.residual = residual;
        l.ending = {Kind(kind), 0.25f, 1.5f};
        check(l, {true, true});
        check(l, {true, false});
        l.c = 600;  // passes
        l.in = {5, 5};
        check(l, {true, true});
      }
}

TEST(ConvPairs, DepthwiseOnes) {
  using Kind = ConvEnding::Kind;
  for (const int64_t kernel : {3, 5})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t channels : {32, 21})
        for (const Kind kind : {Kind::kNone, Kind::kSilu}) {
          Layer l = square(channels, channels, 19, kernel, stride);
          l.depthwise = true;
          l.relu = false;
          l.ending.kind = kind;
          for (const Form form : kForms) {
            l.residual = !l.residual;
            check(l, form);
            l.padding = {0, 0};
            check(l, form);
          }
        }
}

TEST(ConvPairs, ThreadsDoNotChangeBits) {
  Layer plain = square(3, 64, 60, 7, 2);
  plain.plain = true;
  const int before = get_num_threads();
  for (const Layer& l :
       {square(128, 48, 14, 3), square(64, 100, 4, 3), square(128, 100, 30, 1),
        square(256, 128, 26, 1, 2), square(512, 256, 8, 3), plain}) {
    const Case c(l);
    set_num_threads(1);
    const Form form = form_of(l, 1);
    const Tensor one = c.blocked(false, Where::kAnywhere, form);
    for (const int threads : {2, 3}) {
      set_num_threads(threads);
      EXPECT_TRUE(same_bits(one, c.blocked(true, Where::kAnywhere, form)))
          << l.text();
    }
  }
  set_num_threads(before);
}

TEST(ConvPairs, WhatIsNotFiniteStaysSo) {
  for (const float value : {kNaN, kInf, -kInf})
    for (const bool rounded : {false, true}) {
      Layer l = square(16, 16, 4, 1);
      l.norm = l.relu = false;
      const Case c(l);
      c.x.data<float>()[5] = value;
      const Tensor got =
          unblock(to(c.blocked(false, Where::kAnywhere, {true, rounded}),
                     DType::kFloat32),
                  l.out());
      for (int64_t i = 0; i < got.numel(); ++i)
        EXPECT_EQ(std::isfinite(got.data<float>()[i]), i % 16 != 5)
            << "element " << i;
    }
}

}  // namespace
}  // namespace hotaru
