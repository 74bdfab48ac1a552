// Kernels on blocked pictures, beside those on plain ones.
#include "hotaru/backend/common/conv/blocked.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/norm/norm.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/pool/pool.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class... Attributes>
void run(const char* name, std::initializer_list<Operand> operands,
         const Attributes&... attributes) {
  const Kernel& k = kernel(name);
  KernelCall(k, {operands.begin(), operands.size()}, attributes...)
      .run(DeviceType::kCPU);
}

Tensor filled(IntSpan sizes, float value) {
  Tensor t = empty(sizes);
  std::fill_n(t.data<float>(), t.numel(), value);
  return t;
}

/// Memory that begins right behind a page that nobody may touch, or ends right
/// before one.
class GuardedPages : public RefCounted {
 public:
  GuardedPages(size_t nbytes, bool at_end) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t inner = (nbytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    begin_ = static_cast<char*>(
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(begin_ + page, inner, PROT_READ | PROT_WRITE);
    data_ = begin_ + page + (at_end ? inner - nbytes : 0);
  }
  ~GuardedPages() override { munmap(begin_, size_); }
  void* data() const { return data_; }

 private:
  size_t size_;
  char *begin_, *data_;
};

/// Where a test's operands lie.
enum class Where { kAnywhere, kBehindGuard, kBeforeGuard };

Tensor moved(const Tensor& t, Where where) {
  if (where == Where::kAnywhere || !t.defined()) return t;
  const size_t nbytes = size_t(t.numel()) * sizeof(float);
  auto pages = make_ref<GuardedPages>(nbytes, where == Where::kBeforeGuard);
  void* const data = pages->data();
  std::memcpy(data, t.data<float>(), nbytes);
  return make_tensor(make_ref<Storage>(data, nbytes, t.device(), pages, false),
                     t.dtype(), t.sizes(), t.strides(), 0);
}

/// A picture's sizes, blocked.
Dims blocked_sizes(IntSpan plain) {
  const bool plane = plain.size() == 4;
  return {plain[0], channel_blocks(plain[1]), plane ? plain[2] : 1,
          plain[size_t(plane ? 3 : 2)], kChannelBlock};
}

Tensor block(const Tensor& plain, Where where = Where::kAnywhere) {
  const Tensor y = moved(filled(blocked_sizes(plain.sizes()), kNaN), where);
  run("block_channels", {write(y), read(moved(plain, where))});
  return y;
}

Tensor unblock(const Tensor& blocked, IntSpan sizes,
               Where where = Where::kAnywhere) {
  const Tensor y = moved(filled(sizes, kNaN), where);
  run("unblock_channels", {write(y), read(moved(blocked, where))});
  return y;
}

/// Channels beyond the last one are zeros.
void expect_padding(const Tensor& blocked, int64_t channels) {
  const int64_t pixels = blocked.size(2) * blocked.size(3);
  const float* p = blocked.data<float>();
  for (int64_t i = 0; i < blocked.numel(); ++i) {
    const int64_t b = i / kChannelBlock / pixels % blocked.size(1);
    if (b * kChannelBlock + i % kChannelBlock >= channels) {
      ASSERT_EQ(p[i], 0) << "channel beyond " << channels;
    }
  }
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.data<float>(), b.data<float>(),
                     size_t(a.numel()) * sizeof(float)) == 0;
}

struct Layer {
  int64_t n = 1, c = 1, o = 1;
  Dims in{1, 1}, kernel{1, 1}, stride{1, 1}, padding{0, 0}, dilation{1, 1};
  bool depthwise = false, plain = false;
  bool bias = false, norm = false, residual = false, relu = false;
  ConvEnding ending;  // instead of relu

  Dims out() const {
    Dims sizes{n, o};
    for (size_t i = 0; i < in.size(); ++i)
      sizes.push_back(
          (in[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) /
              stride[i] +
          1);
    return sizes;
  }
  bool possible() const {
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i] + 2 * padding[i] < dilation[i] * (kernel[i] - 1) + 1)
        return false;
    return true;
  }
  std::string text() const {
    std::string s = concat("n ", n, " c ", c, " o ", o);
    const auto list = [&](const char* what, const Dims& dims) {
      s += concat(" ", what);
      for (const int64_t d : dims) s += concat(" ", d);
    };
    list("in", in);
    list("kernel", kernel);
    list("stride", stride);
    list("padding", padding);
    list("dilation", dilation);
    return s + concat(" depthwise ", depthwise, " plain ", plain, " bias ",
                      bias, " norm ", norm, " residual ", residual, " relu ",
                      relu, " ending ", int(ending.kind));
  }
};

Tensor ended(const Tensor& y, const ConvEnding& ending) {
  switch (ending.kind) {
    case ConvEnding::Kind::kNone:
      return y;
    case ConvEnding::Kind::kClamp:
      return clamp(y, Scalar(ending.low), Scalar(ending.high));
    case ConvEnding::Kind::kSigmoid:
      return sigmoid(y);
    case ConvEnding::Kind::kTanh:
      return tanh(y);
    case ConvEnding::Kind::kSilu:
      return silu(y);
    case ConvEnding::Kind::kGelu:
      return gelu(y, "none");
    case ConvEnding::Kind::kGeluTanh:
      return gelu(y, "tanh");
    case ConvEnding::Kind::kHardSigmoid:
      return hardsigmoid(y);
    case ConvEnding::Kind::kHardSwish:
      return hardswish(y);
  }
  return y;
}

/// A layer's operands and what it computes, plain and blocked.
struct Case {
  explicit Case(const Layer& layer) : l(layer) {
    Dims x_sizes{l.n, l.c}, w_sizes{l.o, l.depthwise ? 1 : l.c};
    for (const int64_t d : l.in) x_sizes.push_back(d);
    for (const int64_t d : l.kernel) w_sizes.push_back(d);
    x = randn(x_sizes);
    w = randn(w_sizes);
    if (l.bias) bias = randn(Dims{l.o});
    if (l.norm) {
      mean = randn(Dims{l.o});
      variance = rand(Dims{l.o});
      norm_weight = randn(Dims{l.o});
      norm_bias = randn(Dims{l.o});
    }
    if (l.residual) residual = randn(l.out());
  }

  Tensor want() const {
    Tensor y = convolution(x, w, bias, l.stride, l.padding, l.dilation, false,
                           Dims(l.in.size(), 0), l.depthwise ? l.c : 1);
    if (l.norm)
      y = batch_norm(y, norm_weight, norm_bias, mean, variance, false, 0.1,
                     kEps);
    if (l.residual) y = add(y, residual);
    return l.relu ? relu(y) : ended(y, l.ending);
  }

  Tensor blocked(bool prepared = false, Where where = Where::kAnywhere) const {
    const BlockedWeightAttributes weight{l.depthwise, l.plain, kEps};
    const auto made = [&](IntSpan sizes) {
      return moved(filled(sizes, kNaN), where);
    };
    const auto given = [&](const Tensor& t) { return moved(t, where); };
    const Tensor packed = made(Dims{blocked_weight_size(w.sizes(), weight)});
    const Tensor shift = made(Dims{channel_blocks(l.o) * kChannelBlock});
    run("blocked_weight",
        {write(packed), write(shift), read(given(w)), read(given(bias)),
         read(given(mean)), read(given(variance)), read(given(norm_weight)),
         read(given(norm_bias))},
        weight);
    const Tensor from = l.plain ? given(x) : block(x, where);
    const Tensor more = l.residual ? block(residual, where) : Tensor();
    const Tensor y = made(blocked_sizes(l.out()));
    const std::array<Operand, 5> operands{write(y), read(from), read(packed),
                                          read(shift), read(more)};
    BlockedConvAttributes a;
    a.conv = {l.stride, l.padding, l.dilation, l.depthwise ? l.c : 1};
    a.kernel = l.kernel;
    a.in_channels = l.c;
    a.out_channels = l.o;
    a.ending = l.relu ? ConvEnding::relu() : l.ending;
    a.plain_input = l.plain;
    a.depthwise = l.depthwise;
    const Kernel& k = kernel("blocked_conv");
    const KernelCall call(k, operands, a);
    if (prepared)
      k.prepare(DeviceType::kCPU, call)->run();
    else
      call.run(DeviceType::kCPU);
    return y;
  }

  /// How far two results may be apart that round differently. Each is within
  /// (k + 4) u of the sum of its terms' magnitudes, where k is the number of
  /// products and u = 2^-24; terms here are products of normal numbers, so the
  /// sum of their magnitudes seldom exceeds k + 6 sqrt(k) (the mean of |xy| is
  /// 0.64), times the norm's scale, at most 6 / sqrt(min variance); what the
  /// norm and the residual add is below 64. Rounding errors are independent,
  /// so the worst case is far from tight, and used as it is. An ending is at
  /// most 1.5 as steep, and within a few units in the last place itself.
  double tolerance() const {
    double k = l.depthwise ? 1 : double(l.c);
    for (const int64_t d : l.kernel) k *= double(d);
    double scale = 1;
    for (int64_t o = 0; l.norm && o < l.o; ++o)
      scale = std::max(scale, std::abs(double(norm_weight.data<float>()[o])) /
                                  std::sqrt(variance.data<float>()[o] + kEps));
    const bool ends = l.ending.kind != ConvEnding::Kind::kNone;
    return (ends ? 1.5 : 1.0) * 2 * (k + (ends ? 12 : 4)) * 0x1p-24 *
           ((k + 6 * std::sqrt(k) + 8) * scale + 64);
  }

  static constexpr double kEps = 1e-3;
  Layer l;
  Tensor x, w, bias, mean, variance, norm_weight, norm_bias, residual;
};

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

Layer square(int64_t c, int64_t o, int64_t size, int64_t kernel,
             int64_t stride = 1) {
  Layer l;
  l.c = c;
  l.o = o;
  l.in = {size, size};
  l.kernel = {kernel, kernel};
  l.stride = {stride, stride};
  l.padding = {kernel / 2, kernel / 2};
  l.relu = l.norm = true;
  return l;
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

/// Any geometry that fits.
Layer random_layer(std::mt19937& random) {
  const auto from = [&](int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  };
  const auto one_in = [&](int64_t n) { return from(1, n) == 1; };
  Layer l;
  do {
    const size_t dims = one_in(4) ? 1 : 2;
    l.n = from(1, 3);
    l.c = from(1, 70);
    l.o = from(1, 70);
    l.in = l.kernel = l.stride = l.padding = l.dilation = Dims(dims, 1);
    for (size_t i = 0; i < dims; ++i) {
      l.in[i] = from(1, 20);
      l.kernel[i] = one_in(2) ? 3 : from(1, 7);
      l.stride[i] = from(1, one_in(3) ? 4 : 2);
      l.padding[i] = one_in(2) ? l.kernel[i] / 2 : from(0, l.kernel[i]);
      l.dilation[i] = one_in(3) ? from(2, 3) : 1;
    }
    l.depthwise = one_in(3);
    if (l.depthwise) l.o = l.c;
    l.plain = !l.depthwise && one_in(3);
    l.bias = one_in(2);
    l.norm = one_in(2);
    l.residual = one_in(2);
    l.relu = one_in(2);
    if (!l.relu && one_in(2)) {
      l.ending.kind = ConvEnding::Kind(from(0, 8));
      l.ending.low = float(from(-2, 1));
      l.ending.high = float(from(-1, 6));
    }
  } while (!l.possible());
  return l;
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
