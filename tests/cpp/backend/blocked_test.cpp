// Kernels on blocked pictures, beside those on plain ones.
#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/backend/common/resample/resample.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/ops/pool/pool.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/backend/blocked_cases.h"

namespace hotaru {
namespace {

using namespace blocked_test;

void check(const Layer& layer) {
  SCOPED_TRACE(layer.text());
  ASSERT_TRUE(layer.possible());
  const Case c(layer);
  const Tensor want = c.want(), y = c.blocked();
  expect_padding(y, layer.o);
  const Tensor got = unblock(y, layer.out());
  const double tolerance = c.tolerance();
  for (int64_t i = 0; i < want.numel(); ++i)
    ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i], tolerance)
        << "element " << i;
  EXPECT_TRUE(same_bits(y, c.blocked(true))) << "prepared";
}

TEST(ConvBlocked, LayoutsThereAndBack) {
  for (const Dims& sizes :
       {Dims{2, 35, 3, 5}, Dims{1, 16, 4, 4}, Dims{3, 1, 1, 1}, Dims{2, 33, 7},
        Dims{1, 64, 7, 7}, Dims{1, 20, 9, 31}}) {
    const Tensor x = randn(sizes), blocked = block(x);
    expect_padding(blocked, x.size(1));
    EXPECT_TRUE(same_bits(unblock(blocked, sizes), x));
    // One element by the layout's definition.
    const int64_t c = x.size(1) - 1, w = blocked.size(3), h = blocked.size(2);
    const int64_t last = blocked.numel() - kChannelBlock + c % kChannelBlock;
    EXPECT_EQ(blocked.data<float>()[last], x.data<float>()[x.numel() - 1])
        << h << "x" << w;
  }
}

TEST(ConvBlocked, LayoutsWithChannelsLast) {
  for (const Dims& sizes :
       {Dims{2, 35, 3, 5}, Dims{1, 32, 4, 7}, Dims{2, 3, 2, 1}}) {
    const Tensor x = randn(sizes), blocked = block(x);
    // Row by row in other dimensions, and looked at as the picture.
    const Dims rows{sizes[0], sizes[2], sizes[3], sizes[1]};
    const auto view = [](const Tensor& t) {
      return permute(t, Dims{0, 3, 1, 2});
    };
    const Tensor got = filled(rows, kNaN),
                 again = filled(blocked.sizes(), kNaN);
    const Tensor seen = view(got);
    run("unblock_channels", {write(seen), read(blocked)});
    const Tensor plain = filled(sizes, kNaN);
    copy_(plain, seen);
    EXPECT_TRUE(same_bits(plain, x));
    run("block_channels", {write(again), read(seen)});
    EXPECT_TRUE(same_bits(again, blocked));
  }
}

TEST(ConvBlocked, LayersOfNetworks) {
  for (const Layer& l : {square(64, 64, 28, 3), square(64, 128, 28, 3, 2),
                         square(128, 128, 14, 3), square(128, 256, 14, 3, 2),
                         square(256, 256, 7, 3), square(256, 512, 7, 3, 2),
                         square(512, 512, 4, 3), square(64, 128, 28, 1, 2),
                         square(32, 64, 24, 1), square(256, 256, 6, 1),
                         // Pictures that are cut, as all weights pass over
                         // what the cache holds of them.
                         square(256, 100, 28, 1), square(250, 96, 28, 1, 2),
                         square(100, 70, 30, 3, 2)})
    check(l);
  for (Layer l : {square(3, 64, 112, 7, 2), square(1, 32, 28, 3),
                  square(3, 16, 96, 3, 2)}) {
    l.plain = true;
    check(l);
  }
  for (Layer l : {square(16, 16, 48, 3), square(32, 32, 48, 3, 2),
                  square(256, 256, 6, 3), square(128, 128, 12, 3, 2)}) {
    l.depthwise = true;
    check(l);
  }
}

TEST(ConvBlocked, Groups) {
  for (const auto& [c, o, groups] : {std::array<int64_t, 3>{64, 64, 8},
                                     {32, 32, 16},
                                     {48, 48, 3},
                                     {64, 96, 2},
                                     {96, 192, 3},
                                     {160, 80, 5},
                                     {128, 128, 4},
                                     {104, 104, 13},
                                     {20, 20, 5},
                                     {34, 34, 17}})
    for (const int64_t kernel : {1, 3})
      for (const int64_t stride : {1, 2}) {
        Layer l = square(c, o, 11, kernel, stride);
        l.groups = groups;
        l.n = 2;
        l.residual = stride == 2;
        check(l);
        l.in = {4, 4};
        check(l);
      }
}

TEST(ConvBlocked, EveryWidthAndNumberOfBlocks) {
  for (int64_t width = 1; width <= 30; ++width)
    for (const int64_t outputs : {5, 32, 48, 64, 100}) {
      Layer l = square(17, outputs, 3, 3, width % 3 == 0 ? 2 : 1);
      l.in[1] = width;
      l.residual = width % 2;
      check(l);
      l.kernel = {1, 1};
      l.padding = {0, 0};
      check(l);
      l.c = 2;
      l.plain = true;
      l.kernel = {3, 2};
      l.padding = {1, 1};
      check(l);
    }
}

// Pictures whose sums stay in registers as a whole (blocked_whole.h): every
// edge that a row or column of the kernel may meet.
TEST(ConvBlocked, SmallPictures) {
  for (const int64_t side : {2, 3, 4, 5, 6})
    for (const int64_t stride : {1, 2}) {
      Layer l = square(40, 52, side * stride, 3, stride);
      l.n = 2;
      check(l);
      l.residual = true;
      l.relu = false;
      check(l);
      l.dilation = {side * stride, side * stride};  // taps that meet nothing
      l.padding = l.dilation;
      check(l);
      l = square(17, 20, side * stride - 1, 3, stride);  // none behind
      check(l);
      l.kernel = {3, 1};  // one before and one behind a single column
      l.in = {side, side - 2};
      l.stride = {1, 1};
      if (side > 2) check(l);
      l.kernel = {2, 4};
      l.padding = {1, 2};
      l.in = {side - 1, side - 1};
      check(l);
    }
}

TEST(ConvBlocked, RandomGeometries) {
  std::mt19937 random(7);
  for (int i = 0; i < 400 && !testing::Test::HasFatalFailure(); ++i)
    check(random_layer(random));
}

TEST(ConvBlocked, TouchesNothingBesideItsOperands) {
  std::mt19937 random(8);
  for (int i = 0; i < 100; ++i) {
    const Layer l = random_layer(random);
    SCOPED_TRACE(l.text());
    const Case c(l);
    const Tensor want = c.blocked();
    for (const Where where : {Where::kBehindGuard, Where::kBeforeGuard}) {
      const Tensor y = c.blocked(false, where);
      EXPECT_TRUE(same_bits(y, want));
      unblock(y, l.out(), where);
    }
  }
}

TEST(ConvBlocked, ThreadsDoNotChangeBits) {
  const int before = get_num_threads();
  Layer first = square(3, 64, 112, 7, 2), deep = square(128, 48, 14, 3),
        wide = square(64, 64, 60, 3), small = square(64, 100, 4, 3);
  small.n = 2;
  first.plain = true;
  wide.depthwise = true;
  for (const Layer& l : {first, deep, wide, small, square(128, 100, 30, 1),
                         square(256, 128, 26, 1, 2), square(200, 512, 14, 1)}) {
    const Case c(l);
    set_num_threads(1);
    const Tensor one = c.blocked();
    for (const int threads : {2, 3}) {
      set_num_threads(threads);
      EXPECT_TRUE(same_bits(one, c.blocked(true))) << l.text();
    }
  }
  set_num_threads(before);
}

TEST(ConvBlocked, Endings) {
  using Kind = ConvEnding::Kind;
  for (int kind = int(Kind::kNone); kind <= int(Kind::kHardSwish); ++kind)
    // Channels that fill their blocks and that do not, of which 0.5 and limits
    // above 0 must not become something.
    for (const int64_t channels : {32, 21})
      for (const bool residual : {false, true}) {
        Layer l = square(channels, channels, 13, 3);
        l.relu = false;
        l.residual = residual;
        l.ending = {Kind(kind), 0.25f, 1.5f};
        check(l);
        l.depthwise = true;
        check(l);
        l.kernel = {5, 5};
        l.padding = {2, 2};
        check(l);
        l.stride = {2, 2};
        check(l);
        l.stride = {3, 3};
        check(l);
        l.depthwise = false;
        l.kernel = {1, 1};
        l.padding = {0, 0};
        l.stride = {1, 1};
        check(l);
        l.in = {4, 4};
        l.kernel = {3, 3};
        check(l);
        l.c = 3;
        l.plain = true;
        check(l);
      }
}

TEST(ConvBlocked, EndingsOfExtremes) {
  using Kind = ConvEnding::Kind;
  Layer l = square(16, 16, 8, 1);
  l.norm = l.relu = false;
  for (int kind = int(Kind::kClamp); kind <= int(Kind::kHardSwish); ++kind) {
    l.ending = {Kind(kind), -1.0f, 6.0f};
    Case c(l);
    std::fill_n(c.w.data<float>(), c.w.numel(), 0.0f);
    for (int64_t i = 0; i < 16; ++i) c.w.data<float>()[17 * i] = 1;
    const float values[] = {kNaN,   88.5f, -88.5f, 1e30f, -1e30f, 0.0f,
                            -87.2f, 3.0f,  -3.0f,  20.0f, -20.0f};
    for (int64_t i = 0; i < c.x.numel(); ++i)
      c.x.data<float>()[i] = i < 64 ? values[i % 11] : 0;
    const Tensor got = unblock(c.blocked(), l.out()), want = c.want();
    for (int64_t i = 0; i < want.numel(); ++i) {
      const float g = got.data<float>()[i], w = want.data<float>()[i];
      if (std::isnan(w))
        ASSERT_TRUE(std::isnan(g)) << kind << ", element " << i;
      else  // below the smallest normal number times 88 all is lost
        ASSERT_NEAR(g, w, std::abs(w) * 1e-6 + 1e-36)
            << kind << ", element " << i;
    }
  }
}

TEST(ConvBlocked, Scale) {
  for (const Dims& sizes :
       {Dims{2, 35, 3, 5}, Dims{1, 64, 30, 31}, Dims{3, 1, 1, 1}}) {
    const Tensor x = randn(sizes), by = randn(Dims{sizes[0], sizes[1], 1, 1});
    const Tensor y = filled(blocked_sizes(sizes), kNaN);
    const Tensor from = block(x), numbers = block(by);
    run("blocked_scale", {write(y), read(from), read(numbers)});
    expect_padding(y, sizes[1]);
    EXPECT_TRUE(same_bits(unblock(y, sizes), mul(x, by)));
  }
}

/// Outputs that are not finite are those whose windows contain the pixel.
void check_reach(Layer l, float value) {
  SCOPED_TRACE(concat(l.text(), ": ", value));
  l.norm = l.relu = false;
  Case c(l);
  for (const Tensor& t : {c.x, c.w})  // nothing vanishes
    for (int64_t i = 0; i < t.numel(); ++i)
      t.data<float>()[i] = 1 + std::abs(t.data<float>()[i]);
  const int64_t at = l.in[0] / 2 * l.in[1] + l.in[1] - 1;
  const int64_t channel = l.c - 1, plane = l.in[0] * l.in[1];
  c.x.data<float>()[channel * plane + at] = value;
  const Tensor y = c.blocked();
  expect_padding(y, l.o);
  const Tensor got = unblock(y, l.out()), want = c.want();
  for (int64_t i = 0; i < want.numel(); ++i)
    ASSERT_EQ(std::isfinite(got.data<float>()[i]),
              std::isfinite(want.data<float>()[i]))
        << "element " << i;
}

TEST(ConvBlocked, WhatIsNotFiniteStaysInItsWindows) {
  for (const float value : {kNaN, kInf, -kInf}) {
    check_reach(square(17, 20, 7, 3), value);
    check_reach(square(17, 20, 4, 3), value);
    check_reach(square(40, 70, 15, 3, 2), value);
    check_reach(square(3, 5, 9, 5), value);
    Layer plain = square(3, 20, 9, 3);
    plain.plain = true;
    check_reach(plain, value);
    Layer apart = square(20, 20, 9, 3);
    apart.depthwise = true;
    check_reach(apart, value);
    apart.kernel = {5, 5};
    apart.padding = {2, 2};
    check_reach(apart, value);
  }
}

TEST(ConvBlocked, RectifierKeepsNaN) {
  Layer l = square(16, 16, 4, 1);
  l.norm = false;
  const Case c(l);
  c.x.data<float>()[5] = kNaN;
  const Tensor got = unblock(c.blocked(), l.out());
  for (int64_t o = 0; o < 16; ++o)
    EXPECT_TRUE(std::isnan(got.data<float>()[o * 16 + 5]));
}

/// Pools of bfloat16 are those of the same numbers as floats, rounded.
template <class Attributes>
void check_halves(const Kernel& pool, const Attributes& a, const Tensor& x,
                  const Dims& y_sizes) {
  const Tensor half = to(x, DType::kBFloat16), wide = to(half, DType::kFloat32);
  const Tensor got = to(filled(y_sizes, kNaN), DType::kBFloat16);
  const Tensor want = filled(y_sizes, 0);
  const std::array<Operand, 2> rounded{write(got), read(half)},
      floats{write(want), read(wide)};
  KernelCall(pool, rounded, a).run(DeviceType::kCPU);
  KernelCall(pool, floats, a).run(DeviceType::kCPU);
  EXPECT_TRUE(same_bits(got, to(want, DType::kBFloat16)));
}

/// Maxima, bit for bit.
void check_pool(const Tensor& x, const MaxPoolAttributes& a, bool ceil_mode) {
  const PoolWindows windows{a.kernel, a.stride, a.padding, a.dilation,
                            ceil_mode};
  const Tensor want = std::get<0>(max_pool(x, a.dims, windows, false));
  const Tensor y = filled(blocked_sizes(want.sizes()), kNaN);
  const Tensor blocked = block(x);
  const std::array<Operand, 2> operands{write(y), read(blocked)};
  const Kernel& k = kernel("blocked_max_pool");
  const KernelCall call(k, operands, a);
  call.run(DeviceType::kCPU);
  expect_padding(y, x.size(1));
  const Tensor got = unblock(y, want.sizes());
  for (int64_t i = 0; i < want.numel(); ++i) {
    const float g = got.data<float>()[i], w = want.data<float>()[i];
    ASSERT_TRUE(g == w || (std::isnan(g) && std::isnan(w)))
        << "element " << i << ": " << g << " for " << w;
  }
  check_halves(k, a, blocked, Dims(y.sizes()));
  const Tensor again = filled(y.sizes(), kNaN);
  const std::array<Operand, 2> others{write(again), read(blocked)};
  k.prepare(DeviceType::kCPU, KernelCall(k, others, a))->run();
  expect_padding(again, x.size(1));
}

TEST(ConvBlocked, MaxPool) {
  for (const auto& [c, h, w] : {std::array<int64_t, 3>{64, 56, 56},
                                {20, 9, 14},
                                {1, 5, 3},
                                {35, 28, 28},
                                {16, 2, 31}}) {
    const Tensor x = randn(Dims{2, c, h, w});
    x.data<float>()[w + 1] = kNaN;
    x.data<float>()[x.numel() - 1] = kInf;
    for (int64_t i = 0; i < h * w; ++i) x.data<float>()[i] -= 100;
    for (const bool ceil_mode : {false, true}) {
      check_pool(x, {2, {2, 2}, {2, 2}, {0, 0}, {1, 1}}, ceil_mode);
      if (h < 3) continue;
      check_pool(x, {2, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, ceil_mode);
      check_pool(x, {2, {3, 2}, {1, 2}, {1, 0}, {1, 1}}, ceil_mode);
      if (h < 5 || w < 5) continue;
      check_pool(x, {2, {3, 5}, {2, 3}, {0, 2}, {2, 1}}, ceil_mode);
    }
  }
  const Tensor line = randn(Dims{2, 20, 30});
  check_pool(line, {1, {3}, {2}, {1}, {1}}, false);
}

/// Means of windows in blocks, of floats and of bfloat16, beside plain ones.
void check_average(const Tensor& x, const Dims& kernel_size, const Dims& stride,
                   const Dims& padding, bool ceil_mode, bool include_pad,
                   int64_t divisor) {
  const auto dims = int64_t(kernel_size.size());
  const Dims ones(kernel_size.size(), 1);
  const PoolWindows windows{kernel_size, stride, padding, ones, ceil_mode};
  const Tensor want =
      avg_pool(x, dims, windows, include_pad,
               divisor ? Optional<int64_t>(divisor) : Optional<int64_t>());
  ResampleAttributes a;
  a.dims = dims;
  a.kernel = kernel_size;
  a.stride = stride;
  a.padding = padding;
  a.include_pad = include_pad;
  a.divisor = divisor;
  const Kernel& k = kernel("blocked_avg_pool");
  const Tensor y = filled(blocked_sizes(want.sizes()), kNaN), from = block(x);
  const std::array<Operand, 2> operands{write(y), read(from)};
  KernelCall(k, operands, a).run(DeviceType::kCPU);
  expect_padding(y, x.size(1));
  const Tensor got = unblock(y, want.sizes());
  // At most 15 terms of at most 6 in another order.
  for (int64_t i = 0; i < want.numel(); ++i)
    ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i],
                15 * 6 * 15 * 0x1p-24f)
        << "element " << i;
  check_halves(k, a, from, Dims(y.sizes()));
}

TEST(ConvBlocked, AveragePool) {
  for (const auto& [c, h, w] : {std::array<int64_t, 3>{64, 14, 14},
                                {20, 9, 14},
                                {1, 5, 7},
                                {35, 28, 9}}) {
    const Tensor x = randn(Dims{2, c, h, w});
    for (const bool ceil_mode : {false, true})
      for (const bool include_pad : {false, true})
        for (const int64_t divisor : {0, 5}) {
          const auto check = [&](Dims kernel, Dims stride, Dims padding) {
            check_average(x, kernel, stride, padding, ceil_mode, include_pad,
                          divisor);
          };
          check({2, 2}, {2, 2}, {0, 0});
          check({3, 3}, {2, 2}, {1, 1});
          check({3, 2}, {1, 2}, {1, 0});
          check({3, 5}, {2, 3}, {0, 2});
        }
  }
  const Tensor line = randn(Dims{2, 20, 30});
  check_average(line, {3}, {2}, {1}, true, false, 0);
}

TEST(ConvBlocked, Mean) {
  for (const Dims& sizes :
       {Dims{2, 35, 3, 5}, Dims{1, 512, 4, 4}, Dims{3, 1, 1, 1}}) {
    const Tensor x = randn(sizes);
    const Tensor got = filled(Dims{x.size(0), x.size(1), 1, 1}, kNaN);
    run("blocked_mean", {write(got), read(block(x))});
    const int64_t plane = x.size(2) * x.size(3);
    for (int64_t i = 0; i < got.numel(); ++i) {
      double sum = 0;
      for (int64_t p = 0; p < plane; ++p) sum += x.data<float>()[i * plane + p];
      // plane additions of values below 6, rounded each, and a division.
      EXPECT_NEAR(got.data<float>()[i], sum / double(plane),
                  6 * double(plane + 1) * 0x1p-24);
    }
  }
}

}  // namespace
}  // namespace hotaru
