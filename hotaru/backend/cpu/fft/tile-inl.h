// Reading and writing tiles (plan.h), for inclusion after passes-inl.h.

// clang-format off
#if defined(HOTARU_FFT_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_FFT_TILE_INL_H
#undef HOTARU_FFT_TILE_INL_H
#else
#define HOTARU_FFT_TILE_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#include <type_traits>

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

/// Tells whether a tile's lines are neighbours, so that their points are.
template <class T>
bool along(const Lines<T>& lines) {
  bool all = lines.imag == 1 && lines.count == kLanes<std::remove_const_t<T>>;
  for (int64_t l = 1; all && l < lines.count; ++l)
    all = lines.line[size_t(l)] == lines.line[0] + 2 * l;
  return all;
}

/// Calls f(j) for whole blocks of `rows` of `count` points; returns how many
/// are done: all, where the last block may overlap the one before.
template <class F>
HWY_INLINE int64_t by_rows(int64_t count, int64_t rows, const F& f) {
  if (count < rows) return 0;
  int64_t j = 0;
  for (; j + rows <= count; j += rows) f(j);
  if (j < count) f(count - rows);
  return count;
}

/// Reads points of lines into tiles. `swapped`: real and imaginary parts change
/// places, which makes a forward transform one back.
template <class T>
class Reader {
 public:
  Reader(const Lines<const T>& in, bool swapped)
      : in_(in), along_(along(in)), re_(swapped ? kW : 0), im_(kW - re_) {
    // Lanes without a line repeat the first.
    for (int64_t l = in.count; l < kW; ++l) in_.line[size_t(l)] = in.line[0];
  }

  HWY_NOINLINE void operator()(int64_t begin, int64_t count, T* tile) const {
    if (along_) return read_along(begin, count, tile);
    int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
    if (in_.imag == 1 && in_.step == 2)
      j = by_rows(count, kL / 2, [&](int64_t at) HOTARU_SIMD_LAMBDA {
        read_rows(begin + at, tile + at * 2 * kW);
      });
#endif
    for (; j < count; ++j)
      for (int64_t l = 0; l < kW; ++l) {
        const T* p = in_.line[size_t(l)] + (begin + j) * in_.step;
        tile[j * 2 * kW + re_ + l] = *p;
        tile[j * 2 * kW + im_ + l] = in_.imag >= 0 ? p[in_.imag] : T(0);
      }
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kW = kLanes<T>, kL = int64_t(hn::MaxLanes(D()));

  HWY_INLINE void read_along(int64_t begin, int64_t count, T* tile) const {
    const D d;
    const T* line = in_.line[0] + begin * in_.step;
    for (int64_t j = 0; j < count; ++j, tile += 2 * kW, line += in_.step)
      for (int64_t l = 0; l < kW; l += kL) {
        auto x = hn::Zero(d), y = x;
        hn::LoadInterleaved2(d, line + 2 * l, x, y);
        hn::Store(x, d, tile + re_ + l);
        hn::Store(y, d, tile + im_ + l);
      }
  }

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void read_rows(int64_t j, T* tile) const {
    const D d;
    constexpr int64_t kRows = kL / 2;
    for (int64_t l = 0; l < kW; l += kL) {
      V a[kRows], b[kRows];
      HWY_UNROLL(8)
      for (int64_t i = 0; i < kRows; ++i) {
        a[i] = hn::LoadU(d, in_.line[size_t(l + i)] + 2 * j);
        b[i] = hn::LoadU(d, in_.line[size_t(l + kRows + i)] + 2 * j);
      }
      transpose_pairs(d, a);
      transpose_pairs(d, b);
      HWY_UNROLL(8)
      for (int64_t i = 0; i < kRows; ++i) {
        T* point = tile + i * 2 * kW + l;
        hn::Store(hn::ConcatEven(d, b[i], a[i]), d, point + re_);
        hn::Store(hn::ConcatOdd(d, b[i], a[i]), d, point + im_);
      }
    }
  }
#endif

  Lines<const T> in_;
  bool along_;
  int64_t re_, im_;
};

/// Writes points of tiles to lines, multiplied by a factor: a number; or, of
/// four steps, a complex one for each point and lane (`fine`), which can be a
/// product with one for each point (`coarse`).
template <class T>
struct Factor {
  T scale;
  const T *fine = nullptr, *coarse = nullptr;
};

template <class T>
class Writer {
 public:
  Writer(const Lines<T>& out, bool swapped, const Factor<T>& factor)
      : out_(out),
        along_(along(out)),
        re_(swapped ? kW : 0),
        im_(kW - re_),
        factor_(factor) {}

  HWY_NOINLINE void operator()(const T* tile, int64_t begin,
                               int64_t count) const {
    if (along_) return write_along(tile, begin, count);
    int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
    if (out_.imag == 1 && out_.step == 2)
      j = by_rows(count, kL / 2, [&](int64_t at) HOTARU_SIMD_LAMBDA {
        write_rows(tile + at * 2 * kW, begin + at);
      });
#endif
    for (; j < count; ++j) write_point(tile + j * 2 * kW, begin + j);
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kW = kLanes<T>, kL = int64_t(hn::MaxLanes(D()));

  HWY_INLINE void take(const T* tile, int64_t j, int64_t l, V& x, V& y) const {
    const D d;
    x = hn::Load(d, tile + re_ + l);
    y = hn::Load(d, tile + im_ + l);
    if (!factor_.fine) {
      const V scale = hn::Set(d, factor_.scale);
      x = hn::Mul(x, scale), y = hn::Mul(y, scale);
      return;
    }
    const T* f = factor_.fine + j * 2 * kW + l;
    Complex<V> turn = {hn::LoadU(d, f), hn::LoadU(d, f + kW)};
    if (const T* c = factor_.coarse)
      turn = times(turn, hn::Set(d, c[2 * j]), hn::Set(d, c[2 * j + 1]));
    const auto z = times(Complex<V>{x, y}, turn.re, turn.im);
    x = z.re, y = z.im;
  }

  HWY_INLINE void write_along(const T* tile, int64_t begin,
                              int64_t count) const {
    const D d;
    for (int64_t j = begin; j < begin + count; ++j, tile += 2 * kW)
      for (int64_t l = 0; l < kW; l += kL) {
        V x, y;
        take(tile, j, l, x, y);
        hn::StoreInterleaved2(x, y, d, out_.line[0] + j * out_.step + 2 * l);
      }
  }

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void write_rows(const T* tile, int64_t j) const {
    const D d;
    constexpr int64_t kRows = kL / 2, kPairs = 8 / int64_t(sizeof(T));
    for (int64_t l = 0; l < kW && l < out_.count; l += kL) {
      V a[kRows], b[kRows];
      HWY_UNROLL(8)
      for (int64_t i = 0; i < kRows; ++i) {
        V x, y;
        take(tile + i * 2 * kW, j + i, l, x, y);
        a[i] = hn::InterleaveLower(d, x, y);
        b[i] = hn::InterleaveUpper(d, x, y);
      }
      transpose_pairs(d, a);
      transpose_pairs(d, b);
      HWY_UNROLL(8)
      for (int64_t i = 0; i < kRows; ++i) {
        // Interleaving goes by blocks of 128 bits.
        const int64_t lane = l + i / kPairs * 2 * kPairs + i % kPairs;
        if (lane < out_.count)
          hn::StoreU(a[i], d, out_.line[size_t(lane)] + 2 * j);
        if (lane + kPairs < out_.count)
          hn::StoreU(b[i], d, out_.line[size_t(lane + kPairs)] + 2 * j);
      }
    }
  }
#endif

  HWY_INLINE void write_point(const T* tile, int64_t j) const {
    const D d;
    HWY_ALIGN T point[2 * kW];
    for (int64_t l = 0; l < kW; l += kL) {
      V x, y;
      take(tile, j, l, x, y);
      hn::Store(x, d, point + l);
      hn::Store(y, d, point + kW + l);
    }
    for (int64_t l = 0; l < out_.count; ++l) {
      T* p = out_.line[size_t(l)] + j * out_.step;
      *p = point[l];
      if (out_.imag >= 0) p[out_.imag] = point[kW + l];
    }
  }

  Lines<T> out_;
  bool along_;
  int64_t re_, im_;
  Factor<T> factor_;
};

}  // namespace hotaru::cpu::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
