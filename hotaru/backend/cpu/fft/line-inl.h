// Lines that are transformed one by one, each within the first cache, for
// inclusion after simd.h. Bailey's four steps (D. Bailey, "FFTs in
// external or hierarchical memory", 1990) with columns for lanes: points are
// turned once, in registers, and neither end is transposed.

// clang-format off
#if defined(HOTARU_FFT_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_FFT_LINE_INL_H
#undef HOTARU_FFT_LINE_INL_H
#else
#define HOTARU_FFT_LINE_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#include "hotaru/backend/cpu/fft/lines.h"
#include "hotaru/backend/cpu/fft/passes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
template <class T>
struct Square {
  static void turn(const T* from, const T* factors, T* to) {
    constexpr int64_t kW = kLanes<T>;
    to[0] = from[0] * factors[0] - from[kW] * factors[kW];
    to[kW] = from[0] * factors[kW] + from[kW] * factors[0];
  }
};
#else
/// A square of complex numbers of a tile, as many as a vector's lanes a side:
/// multiplied and transposed.
template <class T>
class Square {
 public:
  /// Which row becomes lane `l`: such that interleaving, which goes by blocks
  /// of 128 bits, gives neighbours.
  static constexpr int64_t row_of(int64_t l) {
    const int64_t block = l / kPer, at = l % kPer;
    return at / kHalf * (kL / 2) + block * kHalf + at % kHalf;
  }

  static HWY_INLINE void turn(const T* from, const T* factors, T* to) {
    HWY_UNROLL(4)
    for (int64_t b = 0; b < kBlocks; b += kAtOnce)
      columns(from + b * kPer, factors + b * kPer, to + b * kPer * 2 * kW);
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kW = kLanes<T>, kL = int64_t(hn::MaxLanes(D()));
  static constexpr int64_t kPer = 16 / int64_t(sizeof(T)), kHalf = kPer / 2;
  static constexpr int64_t kBlocks = kL / kPer;
  /// Blocks of columns at a time: one half of a vector, where rows are read by
  /// halves, which needs no shuffles.
  static constexpr int64_t kAtOnce = kBlocks > 1 ? kBlocks / 2 : 1;

  /// The same part of two rows, or a whole row.
  static HWY_INLINE V rows(const T* from, int64_t lane) {
    const D d;
    const T* low = from + row_of(lane) * 2 * kW;
    if constexpr (kBlocks == 1) {
      return hn::Load(d, low);
    } else {
      const hn::Half<D> half;
      const T* high = from + row_of(lane + kL / 2) * 2 * kW;
      return hn::Combine(d, hn::LoadU(half, high), hn::LoadU(half, low));
    }
  }

  static HWY_INLINE void columns(const T* from, const T* factors, T* to) {
    const D d;
    Complex<V> x[kAtOnce][kPer];
    HWY_UNROLL(4)
    for (int64_t r = 0; r < kPer; ++r) {
      Complex<V> part[kAtOnce];
      HWY_UNROLL(2)
      for (int64_t i = 0; i < kAtOnce; ++i) {
        const int64_t lane = r + i * kPer;
        part[i] = times(Complex<V>{rows(from, lane), rows(from + kW, lane)},
                        rows(factors, lane), rows(factors + kW, lane));
      }
      if constexpr (kAtOnce == 2) {
        x[0][r] = {even(part[0].re, part[1].re), even(part[0].im, part[1].im)};
        x[1][r] = {odd(part[0].re, part[1].re), odd(part[0].im, part[1].im)};
      } else {
        x[0][r] = part[0];
      }
    }
    HWY_UNROLL(2)
    for (int64_t b = 0; b < kAtOnce; ++b) {
      V re[kPer], im[kPer];
      HWY_UNROLL(4)
      for (int64_t r = 0; r < kPer; ++r) re[r] = x[b][r].re, im[r] = x[b][r].im;
      within_blocks(re);
      within_blocks(im);
      HWY_UNROLL(4)
      for (int64_t t = 0; t < kPer; ++t) {
        hn::Store(re[t], d, to + (b * kPer + t) * 2 * kW);
        hn::Store(im[t], d, to + (b * kPer + t) * 2 * kW + kW);
      }
    }
  }

  static HWY_INLINE V even(V a, V b) {
    return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
  }
  static HWY_INLINE V odd(V a, V b) {
    return hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
  }

  static HWY_INLINE void within_blocks(V* rows) {
    const D d;
    if constexpr (kPer == 2) {
      const V a = rows[0], b = rows[1];
      rows[0] = hn::InterleaveLower(d, a, b);
      rows[1] = hn::InterleaveUpper(d, a, b);
    } else {
      const hn::RepartitionToWide<hn::RebindToUnsigned<D> > pairs;
      const auto low = [&](V a, V b) HOTARU_SIMD_LAMBDA {
        return hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
      };
      const auto high = [&](V a, V b) HOTARU_SIMD_LAMBDA {
        return hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
      };
      const auto a = low(rows[0], rows[1]), b = low(rows[2], rows[3]);
      const auto c = high(rows[0], rows[1]), e = high(rows[2], rows[3]);
      rows[0] = hn::BitCast(d, hn::InterleaveLower(pairs, a, b));
      rows[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, a, b));
      rows[2] = hn::BitCast(d, hn::InterleaveLower(pairs, c, e));
      rows[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, c, e));
    }
  }
};

#endif

/// Points that lie `step` apart, of neighbouring columns, into a tile.
template <class T>
HWY_NOINLINE void read_columns(const T* in, int64_t step, int64_t points,
                               bool swapped, T* tile) {
  constexpr int64_t kW = kLanes<T>;
  const hn::ScalableTag<T> d;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  T *re = tile + (swapped ? kW : 0), *im = tile + (swapped ? 0 : kW);
  for (int64_t j = 0; j < points; ++j, in += step, re += 2 * kW, im += 2 * kW)
    for (int64_t l = 0; l < kW; l += kL) {
      auto x = hn::Zero(d), y = x;
      load_pairs(d, in + 2 * l, x, y);
      hn::Store(x, d, re + l);
      hn::Store(y, d, im + l);
    }
}

/// The reverse, of lanes in Square's order, times scale.
template <class T>
HWY_NOINLINE void write_columns(const T* tile, int64_t points, bool swapped,
                                T scale, T* out, int64_t step) {
  constexpr int64_t kW = kLanes<T>;
  const hn::ScalableTag<T> d;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const T *re = tile + (swapped ? kW : 0), *im = tile + (swapped ? 0 : kW);
  const auto factor = hn::Set(d, scale);
  for (int64_t j = 0; j < points; ++j, out += step, re += 2 * kW, im += 2 * kW)
    for (int64_t l = 0; l < kW; l += kL) {
      const auto x = hn::Mul(factor, hn::Load(d, re + l));
      const auto y = hn::Mul(factor, hn::Load(d, im + l));
      store_pairs(d, x, y, out + 2 * l);
    }
}

/// A pass that reads or writes pairs; false if its radix has none such.
template <Points kIn, Points kOut, class T>
HWY_INLINE bool pass_of_pairs(const Pass<T>& p, const T* from, T* to,
                              const Ends<T>& ends) {
#if HWY_TARGET != HWY_SCALAR
  const Extent e = {p.m, p.stride, p.stride * p.m, p.stride};
  const T* roots = p.roots.data();
  const T* twiddles = p.m > 1 ? p.twiddles.data() : nullptr;
  switch (p.radix) {
#define HOTARU_FFT_RADIX(R) \
  case R: \
    pass<R, kIn, kOut>(e, roots, twiddles, from, to, ends); \
    return true;
    HOTARU_FFT_RADIX(4)
    HOTARU_FFT_RADIX(5)
    HOTARU_FFT_RADIX(8)
#undef HOTARU_FFT_RADIX
  }
#endif
  return false;
}

/// Transforms kLanes columns; which of the tiles a and b holds them is
/// returned.
template <class T>
T* from_columns(const Plan<T>& plan, const T* in, const Ends<T>& ends, T* a,
                T* b) {
  const bool read = pass_of_pairs<Points::kPairs, Points::kTile>(
      plan.passes.front(), in, a, ends);
  if (!read) read_columns(in, ends.step, plan.n, ends.swapped, a);
  return run_passes(plan, size_t(read), plan.passes.size(), a, b);
}

/// The reverse; what is in the tiles is lost.
template <class T>
void to_columns(const Plan<T>& plan, T* a, T* b, T* out, const Ends<T>& ends) {
  const size_t last = plan.passes.size() - 1;
  T* done = run_passes(plan, 0, last, a, b);
  if (pass_of_pairs<Points::kTile, Points::kPairs>(plan.passes[last], done, out,
                                                   ends))
    return;
  done = run_passes(plan, last, last + 1, done, done == a ? b : a);
  write_columns(done, plan.n, ends.swapped, ends.scale, out, ends.step);
}

/// Through `room`, near_room().
template <class T>
void near_line(const Plan<T>& plan, const T* in, T* out, bool back, T scale,
               T* room) {
  constexpr int64_t kW = kLanes<T>;
  constexpr int64_t kL = int64_t(hn::MaxLanes(hn::ScalableTag<T>()));
  const int64_t n1 = plan.first->n, n2 = plan.second->n;
  T *a = room, *b = a + 2 * kW * n1, *turned = b + 2 * kW * std::max(n1, n2);
  const T* factors = plan.fine.data();
  for (int64_t c = 0; c < n2; c += kW, factors += n1 * 2 * kW) {
    const int64_t j = std::min(c, n2 - kW);
    const T* done =
        from_columns<T>(*plan.first, in + 2 * j, {2 * n2, back}, a, b);
    T* to = turned + j * 2 * kW;
    for (int64_t r = 0; r < n1; r += kW, to += n2 * 2 * kW) {
      const int64_t k = std::min(r, n1 - kW);
      for (int64_t g = 0; g < kW; g += kL)
        for (int64_t h = 0; h < kW; h += kL)
          Square<T>::turn(done + (k + g) * 2 * kW + h,
                          factors + (k + g) * 2 * kW + h, to + h * 2 * kW + g);
    }
  }
  for (int64_t r = 0; r < n1; r += kW, turned += n2 * 2 * kW) {
    const int64_t k = std::min(r, n1 - kW);
    to_columns<T>(*plan.second, turned, b, out + 2 * k, {2 * n1, back, scale});
  }
}

}  // namespace hotaru::cpu::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
