// Real lines as complex ones of half the length, and what follows from their
// symmetry, for inclusion after simd.h.

// clang-format off
#if defined(HOTARU_FFT_FOLD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_FFT_FOLD_INL_H
#undef HOTARU_FFT_FOLD_INL_H
#else
#define HOTARU_FFT_FOLD_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#include <algorithm>

#include "hotaru/backend/cpu/fft/lines.h"
#include "hotaru/backend/cpu/fft/passes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The transform of 2n real points out of that of n pairs: with z the pairs',
/// E = (z[k] + conj z[n-k]) / 2, O = (z[k] - conj z[n-k]) / 2i, X[k] = E + w^k
/// O and X[n-k] = conj(E - w^k O). The reverse takes X for z and gives 2 E + 2
/// i w^-k O. From points k and n - k to the same, times `factor`.
template <bool kBack, class V>
HWY_INLINE void fold(Complex<V>& a, Complex<V>& b, V re, V im, V factor) {
  const Complex<V> e = {hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
  const Complex<V> o = {hn::Sub(a.re, b.re), hn::Add(a.im, b.im)};
  if constexpr (kBack) {
    const auto t = times(o, re, hn::Neg(im));
    a = {hn::Sub(e.re, t.im), hn::Add(e.im, t.re)};
    b = {hn::Add(e.re, t.im), hn::Sub(t.re, e.im)};
  } else {
    const auto t = times(o, re, im);
    a = {hn::Mul(factor, hn::Add(e.re, t.im)),
         hn::Mul(factor, hn::Sub(e.im, t.re))};
    b = {hn::Mul(factor, hn::Sub(e.re, t.im)),
         hn::Mul(hn::Neg(factor), hn::Add(e.im, t.re))};
  }
}

/// In place; n points and n + 1. Before a transform back the parts of what
/// results are swapped.
template <bool kBack, class T>
HWY_NOINLINE void fold_tile(const Plan<T>& plan, T* tile) {
  constexpr int64_t kW = kLanes<T>;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const int64_t n = plan.n;
  constexpr int64_t kRe = kBack ? kW : 0, kIm = kW - kRe;
  T* last = tile + n * 2 * kW;
  if (kBack)
    for (int64_t l = 0; l < kW; ++l) tile[kW + l] = last[kW + l] = T(0);
  const V half = hn::Set(d, T(0.5));
  for (int64_t k = 0; 2 * k <= n; ++k) {
    T *p = tile + k * 2 * kW, *q = tile + (n - k) * 2 * kW;
    const T* other = kBack || k > 0 ? q : p;
    const V re = hn::Set(d, plan.halves[size_t(2 * k)]);
    const V im = hn::Set(d, plan.halves[size_t(2 * k + 1)]);
    for (int64_t l = 0; l < kW; l += kL) {
      Complex<V> a = {hn::Load(d, p + l), hn::Load(d, p + kW + l)};
      Complex<V> b = {hn::Load(d, other + l), hn::Load(d, other + kW + l)};
      fold<kBack>(a, b, re, im, half);
      hn::Store(b.re, d, q + kRe + l);
      hn::Store(b.im, d, q + kIm + l);
      hn::Store(a.re, d, p + kRe + l);
      hn::Store(a.im, d, p + kIm + l);
    }
  }
}

/// Fills a tile of which n / 2 + 1 points are there, swapped, with conjugates.
template <class T>
void mirror_tile(int64_t n, T* tile) {
  constexpr int64_t kW = kLanes<T>;
  std::fill(tile, tile + kW, T(0));
  for (int64_t k = 1; k <= n / 2; ++k) {
    const T* from = tile + k * 2 * kW;
    T* to = tile + (n - k) * 2 * kW;
    for (int64_t l = 0; l < kW; ++l)
      to[l] = -from[l], to[kW + l] = from[kW + l];
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Two vectors of pairs as real and imaginary parts, in an order of lanes for
/// which that takes one shuffle each; and back.
template <class D, class V>
HWY_INLINE Complex<V> split_pairs(D d, V low, V high) {
  return {hn::OddEven(hn::DupEven(high), low),
          hn::OddEven(high, hn::DupOdd(low))};
}
template <class V>
HWY_INLINE void join_pairs(const Complex<V>& x, V& low, V& high) {
  low = hn::OddEven(hn::DupEven(x.im), x.re);
  high = hn::OddEven(x.im, hn::DupOdd(x.re));
}
template <class D, class V>
HWY_INLINE V reverse_pairs(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::ReverseBlocks(d, x);
  } else {
    const hn::RepartitionToWide<hn::RebindToUnsigned<D>> pairs;
    return hn::BitCast(d, hn::Reverse(pairs, hn::BitCast(pairs, x)));
  }
}

/// As many points from k on as a vector has lanes, and those that mirror them.
template <bool kBack, class D, class V, class T>
HWY_INLINE void fold_points(D d, const T* w, const T* from, T* to, int64_t n,
                            int64_t k, V factor) {
  constexpr int64_t kL = int64_t(hn::MaxLanes(D()));
  const int64_t p = 2 * k, q = 2 * (n - k - kL + 1);
  auto a = split_pairs(d, hn::LoadU(d, from + p), hn::LoadU(d, from + p + kL));
  auto b = split_pairs(d, reverse_pairs(d, hn::LoadU(d, from + q + kL)),
                       reverse_pairs(d, hn::LoadU(d, from + q)));
  const auto turn =
      split_pairs(d, hn::LoadU(d, w + p), hn::LoadU(d, w + p + kL));
  fold<kBack>(a, b, turn.re, turn.im, factor);
  V low, high;
  join_pairs(a, low, high);
  hn::StoreU(low, d, to + p);
  hn::StoreU(high, d, to + p + kL);
  join_pairs(b, low, high);
  hn::StoreU(reverse_pairs(d, low), d, to + q + kL);
  hn::StoreU(reverse_pairs(d, high), d, to + q);
}
#endif

/// On a line; the ends, and what does not fill a vector, one by one.
template <bool kBack, class T>
void fold_line(const Plan<T>& plan, const T* from, T* to, T scale) {
  const int64_t n = plan.n;
  const T* w = plan.halves.data();
  const T factor = kBack ? T(1) : T(0.5) * scale;
  const auto one = [&](int64_t k) {
    const T* p = from + 2 * (kBack || k < n ? k : 0);
    const T* q = from + 2 * (kBack || k > 0 ? n - k : 0);
    const bool end = kBack && k == 0;
    const T pi = end ? T(0) : p[1], qi = end ? T(0) : q[1];
    const T er = p[0] + q[0], ei = pi - qi, ore = p[0] - q[0], oi = pi + qi;
    const T re = w[2 * k], im = kBack ? -w[2 * k + 1] : w[2 * k + 1];
    const T tr = ore * re - oi * im, ti = oi * re + ore * im;
    to[2 * k] = factor * (kBack ? er - ti : er + ti);
    to[2 * k + 1] = factor * (kBack ? ei + tr : ei - tr);
  };
  one(0);
  if (!kBack) one(n);
  int64_t k = 1;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const auto factors = hn::Set(d, factor);
  // The last block may overlap the one before.
  if (n > kL) {
    for (; 2 * k <= n; k += kL)
      fold_points<kBack>(d, w, from, to, n, std::min(k, n - kL), factors);
    return;
  }
#endif
  for (; k < n; ++k) one(k);
}

/// The points after n / 2 of a line of n: conjugates of those before.
template <class T>
void mirror_line(T* line, int64_t n, int64_t step) {
  const int64_t count = n - n / 2 - 1;
  int64_t k = 1;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  constexpr int64_t kPairs = int64_t(hn::MaxLanes(d)) / 2;
  const auto zero = hn::Zero(d);
  for (; step == 2 && k + kPairs <= count + 1; k += kPairs) {
    const auto x = reverse_pairs(d, hn::LoadU(d, line + 2 * k));
    const auto y = hn::OddEven(hn::Sub(zero, x), x);
    hn::StoreU(y, d, line + 2 * (n - k - kPairs + 1));
  }
#endif
  for (; k <= count; ++k) {
    line[(n - k) * step] = line[k * step];
    line[(n - k) * step + 1] = -line[k * step + 1];
  }
}

}  // namespace hotaru::cpu::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
