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

#include <array>
#include <numeric>
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

template <int R, int kStep = 1, class D, class V>
HWY_INLINE void butterfly(D d, const hn::TFromD<D>* roots, Complex<V>* x);

/// At i * B + j: where the result that is i modulo A and j modulo B goes;
/// without `coprime`, Cooley and Tukey's order.
template <int A, int B>
constexpr std::array<int, size_t(A* B)> results(bool coprime) {
  std::array<int, size_t(A * B)> to{};
  for (int k = 0; k < A * B; ++k)
    to[size_t(k % A * B + (coprime ? k % B : k / A))] = k;
  return to;
}

/// Transforms A * B points. Coprime factors need no twiddles (I. J. Good, "The
/// interaction algorithm and practical Fourier analysis", 1958): point B i + A
/// j goes to what is k1 modulo A and k2 modulo B. Others turn by roots of unity
/// between A and B (Cooley and Tukey).
template <int A, int B, int kStep, class D, class V>
HWY_INLINE void composed(D d, const hn::TFromD<D>* roots, Complex<V>* x) {
  constexpr int R = A * B;
  constexpr bool kCoprime = std::gcd(A, B) == 1;
  constexpr auto kTo = results<A, B>(kCoprime);
  Complex<V> y[R];
  HWY_UNROLL(16)
  for (int j = 0; j < B; ++j) {
    Complex<V> column[A];
    HWY_UNROLL(16)
    for (int i = 0; i < A; ++i)
      column[i] = x[kCoprime ? (B * i + A * j) % R : B * i + j];
    butterfly<A, kStep * B>(d, roots, column);
    HWY_UNROLL(16)
    for (int i = 0; i < A; ++i) {
      const auto* turn = roots + 2 * kStep * i * j;
      y[B * i + j] =
          kCoprime || i * j == 0
              ? column[i]
              : times(column[i], hn::Set(d, turn[0]), hn::Set(d, turn[1]));
    }
  }
  HWY_UNROLL(16)
  for (int i = 0; i < A; ++i) {
    butterfly<B, kStep * A>(d, roots, y + B * i);
    HWY_UNROLL(16)
    for (int j = 0; j < B; ++j) x[kTo[size_t(B * i + j)]] = y[B * i + j];
  }
}

/// The discrete transform of R points in registers; `roots` are of degree R *
/// kStep.
template <int R, int kStep, class D, class V>
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
  } else if constexpr (R == 9) {
    composed<3, 3, kStep>(d, roots, x);
  } else if constexpr (R == 12) {
    composed<4, 3, kStep>(d, roots, x);
  } else if constexpr (R == 6 || R == 10) {
    composed<2, R / 2, kStep>(d, roots, x);
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
        const V c = hn::Set(d, roots[2 * kStep * (j * k % R)]);
        const V z = hn::Set(d, roots[2 * kStep * (j * k % R) + 1]);
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

/// Neighbouring pairs, and back from lanes in Square's order.
template <class D, class V, class T>
HWY_INLINE void load_pairs(D d, const T* from, V& x, V& y) {
#if HWY_TARGET == HWY_SCALAR
  x = hn::Load(d, from), y = hn::Load(d, from + 1);
#else
  const auto low = hn::LoadU(d, from);
  const auto high = hn::LoadU(d, from + hn::MaxLanes(d));
  x = hn::ConcatEven(d, high, low), y = hn::ConcatOdd(d, high, low);
#endif
}
template <class D, class V, class T>
HWY_INLINE void store_pairs(D d, V x, V y, T* to) {
#if HWY_TARGET == HWY_SCALAR
  hn::Store(x, d, to), hn::Store(y, d, to + 1);
#else
  hn::StoreU(hn::InterleaveLower(d, x, y), d, to);
  hn::StoreU(hn::InterleaveUpper(d, x, y), d, to + hn::MaxLanes(d));
#endif
}

/// The points of a pass, or of a part of it: `m` butterflies for `stride`
/// neighbours each, whose points are `in` and `out` points apart.
struct Extent {
  int64_t m, stride, in, out;
};

/// How a pass finds points and leaves them: as in a tile; or `step` apart, of
/// neighbours in pairs, maybe with real and imaginary parts swapped. Pairs that
/// are left have the lanes in Square's order and are multiplied by `scale`.
enum class Points { kTile, kPairs };
template <class T>
struct Ends {
  int64_t step = 0;
  bool swapped = false;
  T scale = 1;
};

template <Points kAt, class D, class V, class T>
HWY_INLINE void load_point(D d, const T* from, int64_t lane, Complex<V>& x) {
  if constexpr (kAt == Points::kTile)
    x = {hn::Load(d, from + lane), hn::Load(d, from + kLanes<T> + lane)};
  else
    load_pairs(d, from + 2 * lane, x.re, x.im);
}
template <Points kAt, class D, class V, class T>
HWY_INLINE void store_point(D d, const Complex<V>& x, T* to, int64_t lane) {
  if constexpr (kAt == Points::kTile) {
    hn::Store(x.re, d, to + lane);
    hn::Store(x.im, d, to + kLanes<T> + lane);
  } else {
    store_pairs(d, x.re, x.im, to + 2 * lane);
  }
}

/// `twiddles` null: no factors.
template <int R, Points kIn = Points::kTile, Points kOut = Points::kTile,
          class T>
HWY_NOINLINE void pass(const Extent& e, const T* HWY_RESTRICT roots,
                       const T* HWY_RESTRICT twiddles,
                       const T* HWY_RESTRICT from, T* HWY_RESTRICT to,
                       const Ends<T>& ends = {}) {
  constexpr int64_t kW = kLanes<T>;
  const int64_t in_step = kIn == Points::kTile ? 2 * kW : ends.step;
  const int64_t out_step = kOut == Points::kTile ? 2 * kW : ends.step;
  const bool scaled = kOut != Points::kTile && ends.scale != T(1);
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const V scale = hn::Set(d, ends.scale);
  const int64_t stride = e.stride;
  const int64_t far = e.in * in_step, near = e.out * out_step;
  for (int64_t p = 0; p < e.m; ++p) {
    for (int64_t q = 0; q < stride; ++q) {
      const T* in = from + (q + stride * p) * in_step;
      T* out = to + (q + stride * R * p) * out_step;
      HWY_UNROLL(1)
      for (int64_t h = 0; h < kW; h += kL) {
        Complex<V> x[R];
        HWY_UNROLL(16)
        for (int k = 0; k < R; ++k) load_point<kIn>(d, in + k * far, h, x[k]);
        if (kIn != Points::kTile && ends.swapped) {
          HWY_UNROLL(16)
          for (int k = 0; k < R; ++k) std::swap(x[k].re, x[k].im);
        }
        butterfly<R>(d, roots, x);
        if (twiddles) {
          HWY_UNROLL(16)
          for (int k = 1; k < R; ++k)
            x[k] = times(x[k], hn::Set(d, twiddles[2 * k - 2]),
                         hn::Set(d, twiddles[2 * k - 1]));
        }
        if (kOut != Points::kTile && ends.swapped) {
          HWY_UNROLL(16)
          for (int k = 0; k < R; ++k) std::swap(x[k].re, x[k].im);
        }
        if (scaled) {
          HWY_UNROLL(16)
          for (int k = 0; k < R; ++k)
            x[k] = {hn::Mul(x[k].re, scale), hn::Mul(x[k].im, scale)};
        }
        HWY_UNROLL(16)
        for (int k = 0; k < R; ++k)
          store_point<kOut>(d, x[k], out + k * near, h);
      }
    }
    if (twiddles) twiddles += 2 * (R - 1);
  }
}

/// Butterflies of a pass from number `p` on.
template <class T>
HWY_INLINE void pass_part(const Pass<T>& plan, const Extent& e, int64_t p,
                          const T* from, T* to) {
  const T* roots = plan.roots.data();
  const T* twiddles = nullptr;
  if (plan.m > 1) twiddles = plan.twiddles.data() + p * 2 * (plan.radix - 1);
  switch (plan.radix) {
#define HOTARU_FFT_RADIX(R) \
  case R: \
    return pass<R>(e, roots, twiddles, from, to);
    HOTARU_FFT_RADIX(2)
    HOTARU_FFT_RADIX(3)
    HOTARU_FFT_RADIX(4)
    HOTARU_FFT_RADIX(5)
    HOTARU_FFT_RADIX(6)
    HOTARU_FFT_RADIX(7)
    HOTARU_FFT_RADIX(8)
    HOTARU_FFT_RADIX(9)
    HOTARU_FFT_RADIX(10)
    HOTARU_FFT_RADIX(11)
    HOTARU_FFT_RADIX(12)
    HOTARU_FFT_RADIX(13)
#undef HOTARU_FFT_RADIX
  }
}

/// A tile's passes from `begin` until before `end`; which of the two holds the
/// result is returned, the other is lost.
template <class T>
HWY_INLINE T* run_passes(const Plan<T>& plan, size_t begin, size_t end, T* tile,
                         T* other) {
  for (size_t i = begin; i < end; ++i) {
    const Pass<T>& p = plan.passes[i];
    if (p.radix == 1) continue;  // a single point
    pass_part(p, {p.m, p.stride, p.stride * p.m, p.stride}, 0, tile, other);
    std::swap(tile, other);
  }
  return tile;
}

/// Where two tiles don't fit the first cache, the first pass and the last go
/// from and to the lines in blocks of so many points and the rest, without a
/// walk over the tile.
constexpr int64_t kBlock = 8, kFirstCache = 48 << 10;

template <class T>
bool in_blocks(const Plan<T>& plan) {
  return 4 * kLanes<T> * plan.n * int64_t(sizeof(T)) > kFirstCache &&
         plan.passes.size() > 1 && plan.passes.front().m >= kBlock &&
         plan.passes.back().stride >= kBlock;
}

template <class F>
HWY_INLINE void blocks(int64_t n, const F& f) {
  for (int64_t j = 0; j < n;) {
    const int64_t count = n - j < 2 * kBlock ? n - j : kBlock;
    f(j, count);
    j += count;
  }
}

/// read(j, count, to) puts points of the lines into the `block`.
template <class T, class F>
HWY_INLINE void first_pass(const Plan<T>& plan, const F& read, T* block,
                           T* tile) {
  const Pass<T>& p = plan.passes.front();
  blocks(p.m, [&](int64_t j, int64_t count) HOTARU_SIMD_LAMBDA {
    for (int64_t k = 0; k < p.radix; ++k)
      read(j + k * p.m, count, block + k * count * 2 * kLanes<T>);
    pass_part(p, {count, 1, count, 1}, j, block,
              tile + j * p.radix * 2 * kLanes<T>);
  });
}

/// write(from, j, count) puts points from the `block` into the lines.
template <class T, class F>
HWY_INLINE void last_pass(const Plan<T>& plan, const T* tile, T* block,
                          const F& write) {
  const Pass<T>& p = plan.passes.back();
  blocks(p.stride, [&](int64_t j, int64_t count) HOTARU_SIMD_LAMBDA {
    pass_part(p, {1, count, p.stride, count}, 0, tile + j * 2 * kLanes<T>,
              block);
    for (int64_t k = 0; k < p.radix; ++k)
      write(block + k * count * 2 * kLanes<T>, j + k * p.stride, count);
  });
}

}  // namespace hotaru::cpu::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
