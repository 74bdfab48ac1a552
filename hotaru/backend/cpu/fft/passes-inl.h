// The passes of Stockham's transform over a tile (T. G. Stockham, "High-speed
// convolution and correlation", 1966; decimation in frequency), for inclusion
// after simd.h. Every lane is a line of its own, so all radices vectorise.

// clang-format off
#if defined(HOTARU_FFT_PASSES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_FFT_PASSES_INL_H
#undef HOTARU_FFT_PASSES_INL_H
#else
#define HOTARU_FFT_PASSES_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#include <utility>

#include "hotaru/backend/cpu/fft/lines.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct Complex {
  V re, im;
};
template <class V>
HWY_INLINE Complex<V> plus(Complex<V> a, Complex<V> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> minus(Complex<V> a, Complex<V> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> times(Complex<V> a, V re, V im) {
  return {hn::NegMulAdd(a.im, im, hn::Mul(a.re, re)),
          hn::MulAdd(a.im, re, hn::Mul(a.re, im))};
}
template <class V>
HWY_INLINE Complex<V> minus_i(Complex<V> a) {
  return {a.im, hn::Neg(a.re)};
}

template <class V>
HWY_INLINE void butterfly4(Complex<V>& a, Complex<V>& b, Complex<V>& c,
                           Complex<V>& e) {
  const auto s = plus(a, c), t = minus(a, c), u = plus(b, e), v = minus(b, e);
  a = plus(s, u);
  c = minus(s, u);
  b = {hn::Add(t.re, v.im), hn::Sub(t.im, v.re)};
  e = {hn::Sub(t.re, v.im), hn::Add(t.im, v.re)};
}

/// The discrete transform of R points in registers.
template <int R, class D, class V>
HWY_INLINE void butterfly(D d, const hn::TFromD<D>* roots, Complex<V>* x) {
  using T = hn::TFromD<D>;
  if constexpr (R == 2) {
    const auto a = x[0];
    x[0] = plus(a, x[1]);
    x[1] = minus(a, x[1]);
  } else if constexpr (R == 4) {
    butterfly4(x[0], x[1], x[2], x[3]);
  } else if constexpr (R == 8) {
    const V r = hn::Set(d, T(0.70710678118654752440));
    Complex<V> s[4], t[4];
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k)
      s[k] = plus(x[k], x[k + 4]), t[k] = minus(x[k], x[k + 4]);
    t[1] = {hn::Mul(r, hn::Add(t[1].re, t[1].im)),
            hn::Mul(r, hn::Sub(t[1].im, t[1].re))};
    t[2] = minus_i(t[2]);
    t[3] = {hn::Mul(r, hn::Sub(t[3].im, t[3].re)),
            hn::Neg(hn::Mul(r, hn::Add(t[3].re, t[3].im)))};
    butterfly4(s[0], s[1], s[2], s[3]);
    butterfly4(t[0], t[1], t[2], t[3]);
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) x[2 * k] = s[k], x[2 * k + 1] = t[k];
  } else if constexpr (R > 1) {
    // Odd: points k and R - k have conjugate factors.
    constexpr int kHalf = R / 2;
    Complex<V> s[kHalf], t[kHalf];
    const auto first = x[0];
    HWY_UNROLL(8)
    for (int k = 0; k < kHalf; ++k) {
      s[k] = plus(x[k + 1], x[R - 1 - k]);
      t[k] = minus(x[k + 1], x[R - 1 - k]);
      x[0] = plus(x[0], s[k]);
    }
    HWY_UNROLL(8)
    for (int j = 1; j <= kHalf; ++j) {
      auto a = first;
      Complex<V> b = {hn::Zero(d), hn::Zero(d)};
      HWY_UNROLL(8)
      for (int k = 1; k <= kHalf; ++k) {
        const V c = hn::Set(d, roots[2 * (j * k % R)]);
        const V z = hn::Set(d, roots[2 * (j * k % R) + 1]);
        a = {hn::MulAdd(c, s[k - 1].re, a.re),
             hn::MulAdd(c, s[k - 1].im, a.im)};
        b = {hn::MulAdd(z, t[k - 1].re, b.re),
             hn::MulAdd(z, t[k - 1].im, b.im)};
      }
      // roots' imaginary parts are -sin: a + i b and its counterpart.
      x[j] = {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
      x[R - j] = {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
    }
  }
}

template <int R, bool kTurn, class T>
HWY_NOINLINE void pass(const Pass<T>& plan, const T* from, T* to) {
  constexpr int64_t kW = kLanes<T>;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const int64_t m = plan.m, stride = plan.stride;
  const T* twiddles = plan.twiddles.data();
  const T* roots = plan.roots.data();
  for (int64_t p = 0; p < m; ++p, twiddles += kTurn ? 2 * (R - 1) : 0)
    for (int64_t q = 0; q < stride; ++q) {
      const T* in = from + (q + stride * p) * 2 * kW;
      T* out = to + (q + stride * R * p) * 2 * kW;
      HWY_UNROLL(1)
      for (int64_t h = 0; h < kW; h += kL) {
        Complex<V> x[R];
        HWY_UNROLL(16)
        for (int k = 0; k < R; ++k) {
          const T* point = in + h + k * (stride * m * 2 * kW);
          x[k] = {hn::Load(d, point), hn::Load(d, point + kW)};
        }
        butterfly<R>(d, roots, x);
        HWY_UNROLL(16)
        for (int k = 0; k < R; ++k) {
          if (kTurn && k > 0)
            x[k] = times(x[k], hn::Set(d, twiddles[2 * k - 2]),
                         hn::Set(d, twiddles[2 * k - 1]));
          T* point = out + h + k * (stride * 2 * kW);
          hn::Store(x[k].re, d, point);
          hn::Store(x[k].im, d, point + kW);
        }
      }
    }
}

template <int R, class T>
HWY_INLINE void pass(const Pass<T>& plan, const T* from, T* to) {
  if (plan.m > 1)
    pass<R, true>(plan, from, to);
  else
    pass<R, false>(plan, from, to);
}

/// Transforms a tile; which of the two holds the result is returned, the other
/// is lost.
template <class T>
HWY_INLINE T* run_passes(const Plan<T>& plan, T* tile, T* other) {
  for (const Pass<T>& p : plan.passes) {
    switch (p.radix) {
      case 2:
        pass<2>(p, tile, other);
        break;
      case 3:
        pass<3>(p, tile, other);
        break;
      case 4:
        pass<4>(p, tile, other);
        break;
      case 5:
        pass<5>(p, tile, other);
        break;
      case 7:
        pass<7>(p, tile, other);
        break;
      case 8:
        pass<8>(p, tile, other);
        break;
      case 11:
        pass<11>(p, tile, other);
        break;
      case 13:
        pass<13>(p, tile, other);
        break;
      default:
        continue;  // a single point
    }
    std::swap(tile, other);
  }
  return tile;
}

}  // namespace hotaru::cpu::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
