// Depthwise convolutions on blocked pictures: vectors hold channels, so that
// each tap is one multiply-add of what a pixel has of a block.
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/conv/blocked/blocked_depthwise.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/conv/blocked/block-inl.h"
#include "hotaru/backend/cpu/simd/pairs-inl.h"

#ifndef HOTARU_BLOCKED_DEPTHWISE
#define HOTARU_BLOCKED_DEPTHWISE
namespace hotaru::cpu {
/// Where finished sums go: to y, or rounded to half_y; what is added to them
/// before lies in the same way, or there is nothing.
struct DepthwiseOutput {
  float* y;
  BFloat16* half_y;
  const float* residual;
  const BFloat16* half_residual;
  SumBounds bounds;

  DepthwiseOutput at(int64_t i) const {
    return {y ? y + i : nullptr, half_y ? half_y + i : nullptr,
            residual ? residual + i : nullptr,
            half_residual ? half_residual + i : nullptr, bounds};
  }
};

/// Rows of one block of channels. Steps are in elements.
struct DepthwiseRows {
  const BlockedSizes& s;
  const float* x;  // the block's plane; or in half_x
  const BFloat16* half_x;
  const float* w;  // of the block, tap by tap
  const float* shift;
  DepthwiseOutput out;  // the block's plane
  int64_t begin, end;   // of output rows
  const BlockEnding& ending;
  int64_t used;  // channels of the block, 0: all
};
}  // namespace hotaru::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Keeps the compiler from reading memory again at each use, which it takes for
/// free.
template <class T>
HWY_INLINE void load_once([[maybe_unused]] T& v) {
#if HWY_TARGET == HWY_AVX3
  asm("" : "+v"(v.raw));
#elif HWY_TARGET == HWY_AVX2
  asm("" : "+x"(v.raw));
#endif
}

/// The columns of a kernel that lie inside of the picture at column w, and its
/// rows at row h.
struct Taps {
  int64_t row, rows, column, columns;
};
HWY_INLINE Taps taps_at(const BlockedSizes& s, int64_t h, int64_t w) {
  const auto inside = [](int64_t x, int64_t step, int64_t count, int64_t size) {
    int64_t first = 0;
    while (first < count && x + first * step < 0) ++first;
    int64_t end = count;
    while (end > first && x + (end - 1) * step >= size) --end;
    return std::pair(first, end);
  };
  const auto [row, row_end] = inside(h, s.dilation_h, s.kernel_h, s.h);
  const auto [column, column_end] = inside(w, s.dilation_w, s.kernel_w, s.w);
  return {row, row_end - row, column, column_end - column};
}

#if HWY_TARGET == HWY_AVX3
// Whoever rounds at once has asked for the instruction.
using Rounding = hotaru::HWY_NAMESPACE::PairProducts;
#else
using Rounding = hotaru::HWY_NAMESPACE::SplitProducts;
#endif

HWY_INLINE V load(const float* x) {
  return hn::LoadU(D(), x);
}
HWY_INLINE V load(const BFloat16* x) {
  return hotaru::HWY_NAMESPACE::load_bf16(D(), x);
}

HWY_INLINE void finish(V v, const DepthwiseOutput& out, int64_t at) {
  const D d;
  if (out.residual) v = hn::Add(v, load(out.residual + at));
  if (out.half_residual) v = hn::Add(v, load(out.half_residual + at));
  if (out.bounds.any)
    v = bounded(v, hn::Set(d, out.bounds.low), hn::Set(d, out.bounds.high));
  if (out.half_y)
    hotaru::HWY_NAMESPACE::store_rounded<Rounding>(v, out.half_y + at);
  else
    hn::StoreU(v, d, out.y + at);
}

/// Sums of pixels next to each other; apart, so that its code is not in each
/// tile.
HWY_NOINLINE void finish_each(const float* sums, int64_t pixels,
                              const DepthwiseOutput& out, int64_t at) {
  for (; pixels > 0; --pixels, sums += kLanes, at += kChannelBlock)
    finish(hn::Load(D(), sums), out, at);
}

template <int kPixels>
HWY_INLINE void finish_pixels(const V (&sum)[kPixels],
                              const DepthwiseOutput& out, int64_t at) {
  HWY_ALIGN float sums[kPixels * kLanes];
  HWY_UNROLL(16)
  for (int p = 0; p < kPixels; ++p) hn::Store(sum[p], D(), sums + p * kLanes);
  finish_each(sums, kPixels, out, at);
}

/// The input in the form that it has.
template <class T>
HWY_INLINE const T* input_of(const DepthwiseRows& r) {
  if constexpr (sizeof(T) == 4)
    return r.x;
  else
    return r.half_x;
}

/// A pixel under any kernel.
template <class T>
HWY_INLINE void pixel(const DepthwiseRows& r, int64_t out_h, int64_t out_w) {
  const D d;
  const BlockedSizes& s = r.s;
  const int64_t h = out_h * s.stride_h - s.padding_h;
  const int64_t w = out_w * s.stride_w - s.padding_w;
  const Taps t = taps_at(s, h, w);
  const int64_t to = (out_h * s.out_w + out_w) * kChannelBlock;
  for (int64_t v = 0; v < kChannelBlock; v += kLanes) {
    V sum = hn::LoadU(d, r.shift + v);
    for (int64_t i = t.row; i < t.row + t.rows; ++i)
      for (int64_t j = t.column; j < t.column + t.columns; ++j) {
        const int64_t from =
            (h + i * s.dilation_h) * s.w + w + j * s.dilation_w;
        sum = hn::MulAdd(
            load(input_of<T>(r) + from * kChannelBlock + v),
            hn::LoadU(d, r.w + (i * s.kernel_w + j) * kChannelBlock + v), sum);
      }
    finish(sum, r.out, to + v);
  }
}

/// Pixels next to each other under kernels of three columns, of which the
/// first pixel lacks the first (kFirst), the last pixel the last (kLast).
template <class T>
struct Three {
  const T* x;      // first pixel, first row, first column
  int64_t row;     // from a row to the next
  const float* w;  // of that row
  int64_t rows;
  const float* shift;
  DepthwiseOutput out;
};
template <class T, int kPixels, int kStride, bool kFirst, bool kLast>
void three(const Three<T>& t) {
  const D d;
  for (int64_t v = 0; v < kChannelBlock; v += kLanes) {
    V sum[kPixels];
    const V shift = hn::LoadU(d, t.shift + v);
    HWY_UNROLL(8)
    for (V& s : sum) s = shift;
    const T* x = t.x + v;
    const float* w = t.w + v;
    for (int64_t r = 0; r < t.rows; ++r) {
      V ws[3];
      HWY_UNROLL(3)
      for (int k = 0; k < 3; ++k) ws[k] = hn::LoadU(d, w + k * kChannelBlock);
      HWY_UNROLL(20)
      for (int i = 0; i < (kPixels - 1) * kStride + 3; ++i) {
        if ((kFirst && i == 0) || (kLast && i == (kPixels - 1) * kStride + 2))
          continue;
        V value = load(x + i * kChannelBlock);
        load_once(value);
        HWY_UNROLL(3)
        for (int k = 0; k < 3; ++k) {
          const int p = (i - k) / kStride;
          if (i >= k && (i - k) % kStride == 0 && p < kPixels)
            sum[p] = hn::MulAdd(value, ws[k], sum[p]);
        }
      }
      x += t.row;
      w += 3 * kChannelBlock;
    }
    finish_pixels(sum, t.out, v);
  }
}

constexpr int kMaxPixels = 8;
template <class T>
using ThreeFn = void (*)(const Three<T>&);
template <class T, int kStride, bool kFirst, bool kLast, size_t... kPixel>
constexpr std::array<ThreeFn<T>, sizeof...(kPixel)> threes(
    std::index_sequence<kPixel...>) {
  return {&three<T, int(kPixel) + 1, kStride, kFirst, kLast>...};
}
template <class T, int kStride>
ThreeFn<T> find_three(int64_t pixels, bool first, bool last) {
  using Pixels = std::make_index_sequence<size_t(kMaxPixels)>;
  static constexpr std::array<ThreeFn<T>, size_t(kMaxPixels)> kTable[4] = {
      threes<T, kStride, false, false>(Pixels()),
      threes<T, kStride, true, false>(Pixels()),
      threes<T, kStride, false, true>(Pixels()),
      threes<T, kStride, true, true>(Pixels())};
  return kTable[first + 2 * last][size_t(pixels) - 1];
}

/// Tells whether all windows of rows are ones of three().
bool is_three(const BlockedSizes& s) {
  const int64_t over = (s.out_w - 1) * s.stride_w + 3 - s.padding_w - s.w;
  return s.kernel_w == 3 && s.dilation_w == 1 && s.stride_w <= 2 &&
         s.padding_w <= 1 && over <= 1;
}

template <class T>
void three_rows(const DepthwiseRows& r) {
  const BlockedSizes& s = r.s;
  const bool before = s.padding_w > 0;
  const bool behind = (s.out_w - 1) * s.stride_w + 3 - s.padding_w > s.w;
  const int64_t parts = (s.out_w + kMaxPixels - 1) / kMaxPixels;
  // Row by row, in the order in which the picture arrives from memory.
  for (int64_t row = r.begin; row < r.end; ++row) {
    const int64_t h = row * s.stride_h - s.padding_h;
    const Taps t = taps_at(s, h, 0);
    const int64_t from = (h + t.row * s.dilation_h) * s.w;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = part * s.out_w / parts;
      const int64_t end = (part + 1) * s.out_w / parts;
      const bool first = before && part == 0, last = behind && end == s.out_w;
      const int64_t w = begin * s.stride_w - s.padding_w;
      const int64_t to = (row * s.out_w + begin) * kChannelBlock;
      const ThreeFn<T> f = s.stride_w == 1
                               ? find_three<T, 1>(end - begin, first, last)
                               : find_three<T, 2>(end - begin, first, last);
      f({input_of<T>(r) + (from + w) * kChannelBlock,
         s.dilation_h * s.w * kChannelBlock, r.w + t.row * 3 * kChannelBlock,
         t.rows, r.shift, r.out.at(to)});
    }
  }
}

/// Pixels next to each other under a kernel of any size, all of whose windows
/// lie in rows that contain the padding.
struct Wide {
  const float* x;       // first pixel, first row, first column
  int64_t row, column;  // from one of the kernel to the next
  const float* w;       // of that row
  int64_t rows, columns;
  const float* shift;
  DepthwiseOutput out;
};
template <int kPixels, int kStride>
void wide(const Wide& t) {
  const D d;
  for (int64_t v = 0; v < kChannelBlock; v += kLanes) {
    V sum[kPixels];
    const V shift = hn::LoadU(d, t.shift + v);
    HWY_UNROLL(16)
    for (V& s : sum) s = shift;
    const float* HWY_RESTRICT row = t.x + v;
    const float* HWY_RESTRICT w = t.w + v;
    for (int64_t r = t.rows; r > 0; --r, row += t.row) {
      const float* HWY_RESTRICT x = row;
      for (int64_t k = t.columns; k > 0; --k) {
        const V weight = hn::LoadU(d, w);
        HWY_UNROLL(16)
        for (int p = 0; p < kPixels; ++p)
          sum[p] = hn::MulAdd(hn::LoadU(d, x + p * kStride * kChannelBlock),
                              weight, sum[p]);
        x += t.column;
        w += kChannelBlock;
      }
    }
    finish_pixels(sum, t.out, v);
  }
}

// As many sums as hide the latency of additions.
constexpr int kMaxWide = HWY_TARGET == HWY_AVX3 ? 14 : 8;
using WideFn = void (*)(const Wide&);
template <int kStride, size_t... kPixel>
constexpr std::array<WideFn, sizeof...(kPixel)> wides(
    std::index_sequence<kPixel...>) {
  return {&wide<int(kPixel) + 1, kStride>...};
}
WideFn find_wide(int64_t pixels, int64_t stride) {
  using Pixels = std::make_index_sequence<size_t(kMaxWide)>;
  static constexpr std::array<WideFn, size_t(kMaxWide)> kTable[2] = {
      wides<1>(Pixels()), wides<2>(Pixels())};
  return kTable[stride - 1][size_t(pixels) - 1];
}

HWY_INLINE float* copy_row(const float* x, int64_t n, float* to) {
  return std::copy_n(x, n, to);
}
HWY_INLINE float* copy_row(const BFloat16* x, int64_t n, float* to) {
  for (int64_t i = 0; i < n; i += kLanes) hn::StoreU(load(x + i), D(), to + i);
  return to + n;
}

/// Rows [first, end) of the picture with the zeros that windows reach.
template <class T>
HWY_INLINE const float* padded(const DepthwiseRows& r, int64_t first,
                               int64_t end, int64_t pitch) {
  const BlockedSizes& s = r.s;
  const int64_t before = std::min(s.padding_w, pitch) * kChannelBlock;
  const int64_t inside = std::min(s.w * kChannelBlock,  //
                                  pitch * kChannelBlock - before);
  const int64_t behind = pitch * kChannelBlock - before - inside;
  float* to =
      scratch<float>(ScratchUse::kConv, (end - first) * pitch * kChannelBlock);
  const float* const copy = to;
  for (int64_t h = first; h < end; ++h) {
    to = std::fill_n(to, before, 0.0f);
    to = copy_row(input_of<T>(r) + h * s.w * kChannelBlock, inside, to);
    to = std::fill_n(to, behind, 0.0f);
  }
  return copy;
}

/// How many pixels of a row all windows of an output row span.
HWY_INLINE int64_t span_of(const BlockedSizes& s) {
  return (s.out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1;
}

template <class T>
void wide_rows(const DepthwiseRows& r) {
  const BlockedSizes& s = r.s;
  const int64_t pitch = span_of(s);
  const bool copied =
      s.padding_w > 0 || pitch > s.w || !std::is_same_v<T, float>;
  const int64_t reach = (s.kernel_h - 1) * s.dilation_h + 1;
  const int64_t parts = (s.out_w + kMaxWide - 1) / kMaxWide;
  const int64_t first =
      std::clamp<int64_t>(r.begin * s.stride_h - s.padding_h, 0, s.h);
  const int64_t end = std::clamp<int64_t>(
      (r.end - 1) * s.stride_h - s.padding_h + reach, first, s.h);
  const float* const x =
      copied ? padded<T>(r, first, end, pitch) : r.x + first * s.w * kBlock;
  const int64_t line = (copied ? pitch : s.w) * kBlock;
  for (int64_t row = r.begin; row < r.end; ++row) {
    const int64_t h = row * s.stride_h - s.padding_h;
    const Taps t = taps_at(s, h, 0);
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = part * s.out_w / parts;
      const int64_t pixels = (part + 1) * s.out_w / parts - begin;
      const int64_t to = (row * s.out_w + begin) * kBlock;
      find_wide(pixels,
                s.stride_w)({x + (h + t.row * s.dilation_h - first) * line +
                                 begin * s.stride_w * kBlock,
                             s.dilation_h * line, s.dilation_w * kBlock,
                             r.w + t.row * s.kernel_w * kBlock, t.rows,
                             s.kernel_w, r.shift, r.out.at(to)});
    }
  }
}

// Elements of rows that are worked on at once: the cache holds them.
constexpr int64_t kStrip = 16 * 1024;

/// True if three() reads such numbers: bfloat16 only where pictures are kept in
/// it, as it is much code.
template <class T>
constexpr bool kTiles = std::is_same_v<T, float> || HWY_TARGET == HWY_AVX3;

template <class T>
void rows_of(const DepthwiseRows& r) {
  const BlockedSizes& s = r.s;
  const int64_t rows = kStrip / (span_of(s) * kBlock);
  const int64_t reach = (s.kernel_h - 1) * s.dilation_h;
  const int64_t at_once = std::max<int64_t>(1, (rows - reach) / s.stride_h);
  DepthwiseRows strip = r;
  for (; strip.begin < r.end; strip.begin = strip.end) {
    strip.end = std::min(r.end, strip.begin + at_once);
    if (kTiles<T> && is_three(s)) {
      if constexpr (kTiles<T>) three_rows<T>(strip);
    } else if (s.stride_w <= 2) {
      wide_rows<T>(strip);
    } else {
      for (int64_t row = strip.begin; row < strip.end; ++row)
        for (int64_t column = 0; column < s.out_w; ++column)
          pixel<T>(strip, row, column);
    }
    const int64_t pixels = (strip.end - strip.begin) * s.out_w;
    const DepthwiseOutput done = r.out.at(strip.begin * s.out_w * kBlock);
    if (!done.half_y)
      r.ending.finish(done.y, pixels, r.used);
    else if (r.used > 0)
      clear_unused(done.half_y, pixels, r.used);
  }
}

void depthwise_rows(const DepthwiseRows& r) {
  r.half_x ? rows_of<BFloat16>(r) : rows_of<float>(r);
}

void (*find_depthwise_rows())(const DepthwiseRows&) {
  return &depthwise_rows;
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(find_depthwise_rows);

namespace {
// Output elements that pay for one more thread.
constexpr int64_t kWorkPerThread = 1 << 13;
// Output elements that are rounded at once.
constexpr int64_t kStripToRound = 8 * 1024;
}  // namespace

BlockedDepthwise::BlockedDepthwise(const KernelCall& call)
    : s_(call),
      ending_(call.attributes<BlockedConvAttributes>().ending),
      halves_(call.tensor(1).dtype() == DType::kBFloat16),
      rounds_(call.tensor(0).dtype() == DType::kBFloat16),
      rounds_at_once_(rounds_ && ending_.bounded() &&
                      simd_has_bf16_products()) {}

void BlockedDepthwise::run(const BlockedConv::Operands& o) const {
  const int64_t blocks = channel_blocks(s_.c);
  const int64_t row = s_.out_w * kChannelBlock;
  if (s_.out_h * row == 0) return;
  // Threads divide rows, as convolutions with kernels of 1 x 1 do pixels.
  const int64_t grain = std::max<int64_t>(1, kWorkPerThread / (row * blocks));
  parallel_for(0, s_.n * s_.out_h, grain, [&](int64_t at, int64_t end) {
    while (at < end) {
      const int64_t image = at / s_.out_h, first = at - image * s_.out_h;
      const int64_t last = std::min(first + end - at, s_.out_h);
      for (int64_t b = 0; b < blocks; ++b)
        run_plane(o, image * blocks + b, first, last);
      at += last - first;
    }
  });
}

/// Rows [first, last) of a block of an image.
void BlockedDepthwise::run_plane(const BlockedConv::Operands& o, int64_t plane,
                                 int64_t first, int64_t last) const {
  static const auto compute = HWY_DYNAMIC_DISPATCH(find_depthwise_rows)();
  const int64_t in = s_.h * s_.w * kChannelBlock;
  const int64_t row = s_.out_w * kChannelBlock, out = s_.out_h * row;
  const int64_t b = plane % channel_blocks(s_.c);
  const float* const w = o.w + b * s_.taps() * kChannelBlock;
  const float* const shift = o.shift + b * kChannelBlock;
  const auto halves = [](const float* p, int64_t at) {
    return p ? reinterpret_cast<const BFloat16*>(p) + at : nullptr;
  };
  DepthwiseRows rows{s_,
                     halves_ ? nullptr : o.x + plane * in,
                     halves_ ? halves(o.x, plane * in) : nullptr,
                     w,
                     shift,
                     {nullptr, nullptr, nullptr, nullptr, ending_.bounds()},
                     first,
                     last,
                     ending_,
                     used_channels(s_.c, b)};
  auto* const half_y = reinterpret_cast<BFloat16*>(o.y) + plane * out;
  if (rounds_at_once_) {
    rows.out.half_y = half_y;
    rows.out.half_residual = halves(o.residual, plane * out);
    return compute(rows);
  }
  if (!rounds_) {
    rows.out.y = o.y + plane * out;
    rows.out.residual = o.residual ? o.residual + plane * out : nullptr;
    return compute(rows);
  }
  // Strips of rows, as floats in memory that serves all planes.
  const int64_t strip = std::max<int64_t>(1, kStripToRound / row);
  rows.out.y = scratch<float>(ScratchUse::kConvPatches, out);
  rows.out.half_residual = halves(o.residual, plane * out);
  for (rows.begin = first; rows.begin < last; rows.begin = rows.end) {
    rows.end = std::min(rows.begin + strip, last);
    const int64_t begin = rows.begin * row;
    compute(rows);
    narrow(rows.out.y + begin, half_y + begin, rows.end * row - begin);
  }
}

}  // namespace hotaru::cpu
#endif
