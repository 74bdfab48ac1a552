#include "hotaru/backend/cpu/conv/amx/blocked_amx_parts.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "hotaru/backend/cpu/matmul/pair_kernels.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv/amx/blocked_amx_parts.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/conv/blocked/block-inl.h"
#include "hotaru/backend/cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

/// Words of a pixel of a block; of no pixel: zeros.
HWY_INLINE void put(uint32_t* to, const uint32_t* from) {
  const hn::CappedTag<uint32_t, size_t(kUnit)> d;
  for (int64_t i = 0; i < kUnit; i += int64_t(hn::MaxLanes(d)))
    hn::StoreU(from ? hn::LoadU(d, from + i) : hn::Zero(d), d, to + i);
}

/// Words of two pixels.
HWY_INLINE void put_both(uint32_t* to, const uint32_t* first,
                         const uint32_t* second) {
#if HWY_TARGET == HWY_AVX3
  const hn::CappedTag<uint32_t, size_t(kUnit)> half;
  const hn::CappedTag<uint32_t, size_t(kUnitPair)> d;
  hn::StoreU(hn::Combine(d, hn::LoadU(half, second), hn::LoadU(half, first)), d,
             to);
#else
  put(to, first);
  put(to + kUnit, second);
#endif
}

void pack(const PairLine& line, uint32_t* to) {
  const auto clear = [&](int64_t begin, int64_t end) HOTARU_SIMD_LAMBDA {
    for (int64_t i = begin; i < end; ++i) {
      put(to + i * kUnitPair, nullptr);
      put(to + i * kUnitPair + kUnit, nullptr);
    }
  };
  const uint32_t *one = line.one, *two = line.two;
  const int64_t step = line.step;  // stores might change the line's
  if (!one) return clear(0, line.count);
  clear(0, line.first);
  uint32_t* at = to + line.first * kUnitPair;
  uint32_t* const end = to + line.end * kUnitPair;
  if (two)
    for (; at < end; at += kUnitPair, one += step, two += step)
      put_both(at, one, two);
  else
    for (; at < end; at += kUnitPair, one += step) {
      put(at, one);
      put(at + kUnit, nullptr);
    }
  clear(line.end, line.count);
}

template <class Products, class Y>
void end_as(float* sums, int64_t pixels, const SumsEnd& end, Y* y) {
  const D d;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const V low = hn::Set(d, end.bounds.any ? end.bounds.low : -kInfinity);
  const V high = hn::Set(d, end.bounds.any ? end.bounds.high : kInfinity);
  const auto with = [&](const auto& more) HOTARU_SIMD_LAMBDA {
    for (int v = 0; v < kBlock; v += kLanes) {
      const V shift = hn::LoadU(d, end.shift + v);
      const auto ended = [&](int64_t at) HOTARU_SIMD_LAMBDA {
        const V sum = hn::Add(hn::LoadU(d, sums + at), shift);
        return bounded(more(sum, at), low, high);
      };
      const int64_t size = pixels * kBlock;
      int64_t at = v;
      if constexpr (!std::is_same_v<Y, float> && kLanes == kBlock)
        for (; at + kBlock < size; at += 2 * kBlock)
          hotaru::HWY_NAMESPACE::store_both<Products>(
              ended(at), ended(at + kBlock), y + at);
      for (; at < size; at += kBlock)
        if constexpr (std::is_same_v<Y, float>)
          hn::StoreU(ended(at), d, y + at);
        else
          hotaru::HWY_NAMESPACE::store_rounded<Products>(ended(at), y + at);
    }
  };
  if (!end.residual) {
    with([](V sum, int64_t) HOTARU_SIMD_LAMBDA { return sum; });
  } else if (end.halves) {
    const auto* from = static_cast<const BFloat16*>(end.residual);
    with([&](V sum, int64_t at) HOTARU_SIMD_LAMBDA {
      return hn::Add(sum, hotaru::HWY_NAMESPACE::load_bf16(d, from + at));
    });
  } else {
    const auto* from = static_cast<const float*>(end.residual);
    with([&](V sum, int64_t at) HOTARU_SIMD_LAMBDA {
      return hn::Add(sum, hn::LoadU(d, from + at));
    });
  }
}

void end_floats(float* sums, int64_t pixels, const SumsEnd& end, float* y) {
  end_as<hotaru::HWY_NAMESPACE::SplitProducts>(sums, pixels, end, y);
}

void end_split(float* sums, int64_t pixels, const SumsEnd& end, BFloat16* y) {
  end_as<hotaru::HWY_NAMESPACE::SplitProducts>(sums, pixels, end, y);
}

void end_native(float* sums, int64_t pixels, const SumsEnd& end, BFloat16* y) {
#if HWY_TARGET == HWY_AVX3
  end_as<hotaru::HWY_NAMESPACE::PairProducts>(sums, pixels, end, y);
#else
  end_split(sums, pixels, end, y);
#endif
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(pack);
HWY_EXPORT(end_floats);
HWY_EXPORT(end_split);
HWY_EXPORT(end_native);

void pack_line(const PairLine& line, uint32_t* to) {
  HWY_DYNAMIC_DISPATCH(pack)(line, to);
}

void end_sums(float* sums, int64_t pixels, const SumsEnd& end, float* y) {
  HWY_DYNAMIC_DISPATCH(end_floats)(sums, pixels, end, y);
}

void end_sums(float* sums, int64_t pixels, const SumsEnd& end, BFloat16* y) {
  static const bool native = simd_has_bf16_products();
  native ? HWY_DYNAMIC_DISPATCH(end_native)(sums, pixels, end, y)
         : HWY_DYNAMIC_DISPATCH(end_split)(sums, pixels, end, y);
}

namespace {

/// Bytes that are copied at once, of which more than a tap's words may be of
/// what follows, written right after.
constexpr int64_t kPiece = 16, kPieceWords = kPiece / 4;

}  // namespace

int64_t plain_pitch(const BlockedSizes& s) {
  return (s.out_w - 1) * s.stride_w + s.kernel_w + kPiece / 2;
}

void round_lines(const BlockedSizes& s, const float* x,
                 const PlainLines& lines) {
  const int64_t first = std::min(s.padding_w, lines.pitch);
  const int64_t end = std::clamp(s.w + s.padding_w, first, lines.pitch);
  BFloat16* to = lines.data;
  for (int64_t c = 0; c < s.c; ++c)
    for (int64_t r = 0; r < lines.count; ++r, to += lines.pitch) {
      const int64_t h = lines.first + r;
      if (h < 0 || h >= s.h) {
        std::fill_n(to, lines.pitch, BFloat16(0.0f));
        continue;
      }
      const float* from = x + (c * s.h + h) * s.w;
      std::fill_n(to, first, BFloat16(0.0f));
      pair_makers().round(from, to + first, end - first);
      std::fill(to + end, to + lines.pitch, BFloat16(0.0f));
    }
}

void pack_plain(const BlockedSizes& s, const PlainLines& lines, int64_t words,
                PixelRange pixels, int64_t row, uint32_t* to) {
  const int64_t used = s.c * s.kernel_h * words;
  for (int64_t i = 0; i < pixels.count; ++i, to += row) {
    const int64_t p = pixels.first + i;
    const int64_t h = p / s.out_w * s.stride_h - s.padding_h - lines.first;
    const BFloat16* from =
        lines.data + h * lines.pitch + p % s.out_w * s.stride_w;
    uint32_t* at = to;
    for (int64_t c = 0; c < s.c; ++c, from += lines.count * lines.pitch)
      for (int64_t r = 0; r < s.kernel_h; ++r, at += words) {
        const BFloat16* tap = from + r * s.dilation_h * lines.pitch;
        for (int64_t k = 0; k < words; k += kPieceWords)
          std::memcpy(at + k, tap + 2 * k, kPiece);
      }
    std::fill(to + used, to + row, 0u);
  }
}

}  // namespace hotaru::cpu
#endif
