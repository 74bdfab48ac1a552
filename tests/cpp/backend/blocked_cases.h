// Convolutions on blocked pictures, as tests run them beside plain ones.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/norm/norm.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::blocked_test {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

template <class... Attributes>
void run(const char* name, std::initializer_list<Operand> operands,
         const Attributes&... attributes) {
  const Kernel& k = kernel(name);
  KernelCall(k, {operands.begin(), operands.size()}, attributes...)
      .run(DeviceType::kCPU);
}

inline Tensor filled(IntSpan sizes, float value) {
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

inline Tensor moved(const Tensor& t, Where where) {
  if (where == Where::kAnywhere || !t.defined()) return t;
  const size_t nbytes = size_t(t.numel()) * itemsize(t.dtype());
  auto pages = make_ref<GuardedPages>(nbytes, where == Where::kBeforeGuard);
  void* const data = pages->data();
  std::memcpy(data, t.raw_data(), nbytes);
  return make_tensor(make_ref<Storage>(data, nbytes, t.device(), pages, false),
                     t.dtype(), t.sizes(), t.strides(), 0);
}

inline Tensor in_form(const Tensor& t, bool half) {
  return half ? to(t, DType::kBFloat16) : t;
}

/// A picture's sizes, blocked.
inline Dims blocked_sizes(IntSpan plain) {
  const bool plane = plain.size() == 4;
  return {plain[0], channel_blocks(plain[1]), plane ? plain[2] : 1,
          plain[size_t(plane ? 3 : 2)], kChannelBlock};
}

inline Tensor block(const Tensor& plain, Where where = Where::kAnywhere) {
  const Tensor y = moved(filled(blocked_sizes(plain.sizes()), kNaN), where);
  run("block_channels", {write(y), read(moved(plain, where))});
  return y;
}

inline Tensor unblock(const Tensor& blocked, IntSpan sizes,
                      Where where = Where::kAnywhere) {
  const Tensor y = moved(filled(sizes, kNaN), where);
  run("unblock_channels", {write(y), read(moved(blocked, where))});
  return y;
}

/// Channels beyond the last one are zeros.
inline void expect_padding(const Tensor& blocked, int64_t channels) {
  const int64_t pixels = blocked.size(2) * blocked.size(3);
  const float* p = blocked.data<float>();
  for (int64_t i = 0; i < blocked.numel(); ++i) {
    const int64_t b = i / kChannelBlock / pixels % blocked.size(1);
    if (b * kChannelBlock + i % kChannelBlock >= channels)
      ASSERT_EQ(p[i], 0) << "channel beyond " << channels;
  }
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.raw_data(), b.raw_data(),
                     size_t(a.numel()) * itemsize(a.dtype())) == 0;
}

struct Layer {
  int64_t n = 1, c = 1, o = 1, groups = 1;
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
    std::string s = concat("n ", n, " c ", c, " o ", o, " groups ", groups);
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

inline Tensor ended(const Tensor& y, const ConvEnding& ending) {
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

/// Parts of a layer that are of bfloat16.
struct Form {
  bool pairs = false;    // x, and w unless depthwise
  bool rounded = false;  // y and the residual
};

/// A layer's operands and what it computes, plain and blocked.
struct Case {
  explicit Case(const Layer& layer) : l(layer) {
    Dims x_sizes{l.n, l.c}, w_sizes{l.o, l.depthwise ? 1 : l.c / l.groups};
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
                           Dims(l.in.size(), 0), l.depthwise ? l.c : l.groups);
    if (l.norm)
      y = batch_norm(y, norm_weight, norm_bias, mean, variance, false, 0.1,
                     kEps);
    if (l.residual) y = add(y, residual);
    return l.relu ? relu(y) : ended(y, l.ending);
  }

  Tensor blocked(bool prepared = false, Where where = Where::kAnywhere,
                 Form form = {}) const {
    const BlockedWeightAttributes weight{l.depthwise, l.plain, kEps,
                                         form.pairs && !l.depthwise, l.groups};
    const auto made = [&](IntSpan sizes, bool half = false) {
      return moved(in_form(filled(sizes, kNaN), half), where);
    };
    const auto given = [&](const Tensor& t) { return moved(t, where); };
    const Tensor packed =
        made(Dims{blocked_weight_size(w.sizes(), weight)}, weight.pairs);
    const Tensor shift = made(Dims{channel_blocks(l.o) * kChannelBlock});
    run("blocked_weight",
        {write(packed), write(shift), read(given(w)), read(given(bias)),
         read(given(mean)), read(given(variance)), read(given(norm_weight)),
         read(given(norm_bias))},
        weight);
    const Tensor from =
        l.plain ? given(x) : given(in_form(block(x, where), form.pairs));
    const Tensor more =
        l.residual ? given(in_form(block(residual, where), form.rounded))
                   : Tensor();
    const Tensor y = made(blocked_sizes(l.out()), form.rounded);
    const std::array<Operand, 5> operands{write(y), read(from), read(packed),
                                          read(shift), read(more)};
    BlockedConvAttributes a;
    a.conv = {l.stride, l.padding, l.dilation, l.depthwise ? l.c : l.groups};
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

inline Layer square(int64_t c, int64_t o, int64_t size, int64_t kernel,
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

/// Any geometry that fits.
inline Layer random_layer(std::mt19937& random) {
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

}  // namespace hotaru::blocked_test
