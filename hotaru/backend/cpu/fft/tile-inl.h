// Reading and writing tiles (plan.h), for inclusion after simd.h.

// clang-format off
#if defined(HOTARU_FFT_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_FFT_TILE_INL_H
#undef HOTARU_FFT_TILE_INL_H
#else
#define HOTARU_FFT_TILE_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#include "hotaru/backend/cpu/fft/lines.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// Rows of vectors whose blocks of 128 bits are a square matrix: transposes.
template <class D, class V>
HWY_INLINE void transpose_blocks(D d, V* rows) {
  constexpr size_t kBlocks = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) / 16;
  if constexpr (kBlocks == 2) {
    const V a = rows[0], b = rows[1];
    rows[0] = hn::ConcatLowerLower(d, b, a);
    rows[1] = hn::ConcatUpperUpper(d, b, a);
  } else if constexpr (kBlocks == 4) {
    const auto even = [&](V a, V b) HOTARU_SIMD_LAMBDA {
      return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
    };
    const auto odd = [&](V a, V b) HOTARU_SIMD_LAMBDA {
      return hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
    };
    const V e0 = even(rows[0], rows[1]), e1 = even(rows[2], rows[3]);
    const V o0 = odd(rows[0], rows[1]), o1 = odd(rows[2], rows[3]);
    rows[0] = hn::ConcatLowerLower(d, e1, e0);
    rows[1] = hn::ConcatLowerLower(d, o1, o0);
    rows[2] = hn::ConcatUpperUpper(d, e1, e0);
    rows[3] = hn::ConcatUpperUpper(d, o1, o0);
  }
}

/// As many rows of complex numbers as a vector holds: transposes.
template <class D, class V>
HWY_INLINE void transpose_pairs(D d, V* rows) {
  constexpr size_t kBlocks = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) / 16;
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    transpose_blocks(d, rows);
  } else {
    const hn::RepartitionToWide<decltype(hn::RebindToUnsigned<D>())> pairs;
    V low[kBlocks], high[kBlocks];
    HWY_UNROLL(4)
    for (size_t i = 0; i < kBlocks; ++i) {
      const auto a = hn::BitCast(pairs, rows[2 * i]);
      const auto b = hn::BitCast(pairs, rows[2 * i + 1]);
      low[i] = hn::BitCast(d, hn::InterleaveLower(a, b));
      high[i] = hn::BitCast(d, hn::InterleaveUpper(pairs, a, b));
    }
    transpose_blocks(d, low);
    transpose_blocks(d, high);
    HWY_UNROLL(4)
    for (size_t i = 0; i < kBlocks; ++i)
      rows[2 * i] = low[i], rows[2 * i + 1] = high[i];
  }
}
#endif

/// `swapped`: real and imaginary parts change places, which makes a forward
/// transform one back.
template <class T>
void load_tile(const Lines<const T>& in, int64_t n, bool swapped, T* tile) {
  constexpr int64_t kW = kLanes<T>;
  const hn::ScalableTag<T> d;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const int64_t re = swapped ? kW : 0, im = kW - re;
  bool along = in.imag == 1 && in.count == kW;
  for (int64_t l = 1; along && l < kW; ++l)
    along = in.line[size_t(l)] == in.line[0] + 2 * l;
  if (along) {
    for (int64_t j = 0; j < n; ++j, tile += 2 * kW)
      for (int64_t l = 0; l < kW; l += kL) {
        auto x = hn::Zero(d), y = x;
        hn::LoadInterleaved2(d, in.line[0] + j * in.step + 2 * l, x, y);
        hn::Store(x, d, tile + re + l);
        hn::Store(y, d, tile + im + l);
      }
    return;
  }
  // Lanes without a line repeat the first.
  std::array<const T*, 16> line = in.line;
  for (int64_t l = in.count; l < kW; ++l) line[size_t(l)] = line[0];
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  if (in.imag == 1 && in.step == 2) {
    constexpr int64_t kRows = kL / 2;
    using V = hn::Vec<decltype(d)>;
    for (; j + kRows <= n; j += kRows)
      for (int64_t l = 0; l < kW; l += kL) {
        V a[kRows], b[kRows];
        HWY_UNROLL(8)
        for (int64_t i = 0; i < kRows; ++i) {
          a[i] = hn::LoadU(d, line[size_t(l + i)] + 2 * j);
          b[i] = hn::LoadU(d, line[size_t(l + kRows + i)] + 2 * j);
        }
        transpose_pairs(d, a);
        transpose_pairs(d, b);
        HWY_UNROLL(8)
        for (int64_t i = 0; i < kRows; ++i) {
          T* point = tile + (j + i) * 2 * kW + l;
          hn::Store(hn::ConcatEven(d, b[i], a[i]), d, point + re);
          hn::Store(hn::ConcatOdd(d, b[i], a[i]), d, point + im);
        }
      }
  }
#endif
  for (; j < n; ++j)
    for (int64_t l = 0; l < kW; ++l) {
      const T* p = line[size_t(l)] + j * in.step;
      tile[j * 2 * kW + re + l] = *p;
      tile[j * 2 * kW + im + l] = in.imag ? p[in.imag] : T(0);
    }
}

/// factor(j, l, re, im) changes the vectors from lane l on of point j before
/// they are written.
template <class T, class F>
HWY_INLINE void store_tile(const T* tile, int64_t n, bool swapped,
                           const Lines<T>& out, const F& factor) {
  constexpr int64_t kW = kLanes<T>;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const int64_t re = swapped ? kW : 0, im = kW - re;
  const auto take = [&](int64_t j, int64_t l, V& x, V& y) HOTARU_SIMD_LAMBDA {
    x = hn::Load(d, tile + j * 2 * kW + re + l);
    y = hn::Load(d, tile + j * 2 * kW + im + l);
    factor(j, l, x, y);
  };
  bool along = out.imag == 1 && out.count == kW;
  for (int64_t l = 1; along && l < kW; ++l)
    along = out.line[size_t(l)] == out.line[0] + 2 * l;
  if (along) {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < kW; l += kL) {
        V x, y;
        take(j, l, x, y);
        hn::StoreInterleaved2(x, y, d, out.line[0] + j * out.step + 2 * l);
      }
    return;
  }
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  if (out.imag == 1 && out.step == 2) {
    constexpr int64_t kRows = kL / 2, kPairs = 8 / int64_t(sizeof(T));
    for (; j + kRows <= n; j += kRows)
      for (int64_t l = 0; l < kW && l < out.count; l += kL) {
        V a[kRows], b[kRows];
        HWY_UNROLL(8)
        for (int64_t i = 0; i < kRows; ++i) {
          V x, y;
          take(j + i, l, x, y);
          a[i] = hn::InterleaveLower(d, x, y);
          b[i] = hn::InterleaveUpper(d, x, y);
        }
        transpose_pairs(d, a);
        transpose_pairs(d, b);
        HWY_UNROLL(8)
        for (int64_t i = 0; i < kRows; ++i) {
          // Interleaving goes by blocks of 128 bits.
          const int64_t lane = l + i / kPairs * 2 * kPairs + i % kPairs;
          if (lane < out.count)
            hn::StoreU(a[i], d, out.line[size_t(lane)] + 2 * j);
          if (lane + kPairs < out.count)
            hn::StoreU(b[i], d, out.line[size_t(lane + kPairs)] + 2 * j);
        }
      }
  }
#endif
  for (; j < n; ++j) {
    HWY_ALIGN T point[2 * kW];
    for (int64_t l = 0; l < kW; l += kL) {
      V x, y;
      take(j, l, x, y);
      hn::Store(x, d, point + l);
      hn::Store(y, d, point + kW + l);
    }
    for (int64_t l = 0; l < out.count; ++l) {
      T* p = out.line[size_t(l)] + j * out.step;
      *p = point[l];
      if (out.imag) p[out.imag] = point[kW + l];
    }
  }
}

}  // namespace hotaru::cpu::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
