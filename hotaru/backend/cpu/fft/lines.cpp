#include "hotaru/backend/cpu/fft/lines.h"

#include "hotaru/backend/cpu/fft/room.h"
#include "hotaru/runtime/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/fft/lines.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: they, too, are compiled for each target.
#include "hotaru/backend/cpu/fft/passes-inl.h"
#include "hotaru/backend/cpu/fft/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The transform of 2n real points out of that of n pairs: with z the pairs',
/// E = (z[k] + conj z[n-k]) / 2, O = (z[k] - conj z[n-k]) / 2i, X[k] = E + w^k
/// O. The reverse takes X for z and gives 2 E + 2 i w^-k O.
template <bool kBack, class V>
HWY_INLINE Complex<V> fold(Complex<V> a, Complex<V> b, V re, V im, V half) {
  const Complex<V> e = {hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
  const Complex<V> o = {hn::Sub(a.re, b.re), hn::Add(a.im, b.im)};
  if constexpr (kBack) {
    // e + i (re - i im) o
    const auto t = times(o, re, hn::Neg(im));
    return {hn::Sub(e.re, t.im), hn::Add(e.im, t.re)};
  } else {
    const auto t = times(o, re, im);
    return {hn::Mul(half, hn::Add(e.re, t.im)),
            hn::Mul(half, hn::Sub(e.im, t.re))};
  }
}

template <bool kBack, class T>
void fold_tile(const Plan<T>& plan, T* from, T* to) {
  constexpr int64_t kW = kLanes<T>;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const int64_t n = plan.n;
  if (kBack)
    for (int64_t l = 0; l < kW; ++l)
      from[kW + l] = from[n * 2 * kW + kW + l] = T(0);
  const V half = hn::Set(d, T(0.5));
  for (int64_t k = 0; k < n + !kBack; ++k) {
    const T* p = from + (kBack || k < n ? k : 0) * 2 * kW;
    const T* q = from + (kBack || k > 0 ? n - k : 0) * 2 * kW;
    const V re = hn::Set(d, plan.halves[size_t(2 * k)]);
    const V im = hn::Set(d, plan.halves[size_t(2 * k + 1)]);
    for (int64_t l = 0; l < kW; l += kL) {
      const Complex<V> a = {hn::Load(d, p + l), hn::Load(d, p + kW + l)};
      const Complex<V> b = {hn::Load(d, q + l), hn::Load(d, q + kW + l)};
      const auto x = fold<kBack>(a, b, re, im, half);
      hn::Store(x.re, d, to + k * 2 * kW + l);
      hn::Store(x.im, d, to + k * 2 * kW + kW + l);
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

/// On a line; of numbers that do not fill a vector, and the ends, one by one.
template <bool kBack, class T>
void fold_line(const Plan<T>& plan, const T* from, T* to, T scale) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const int64_t n = plan.n;
  const T* w = plan.halves.data();
  const auto one = [&](int64_t k) {
    const T* p = from + 2 * (kBack || k < n ? k : 0);
    const T* q = from + 2 * (kBack || k > 0 ? n - k : 0);
    const bool end = kBack && k == 0;
    const T pi = end ? T(0) : p[1], qi = end ? T(0) : q[1];
    const T er = p[0] + q[0], ei = pi - qi, ore = p[0] - q[0], oi = pi + qi;
    const T re = w[2 * k], im = kBack ? -w[2 * k + 1] : w[2 * k + 1];
    const T tr = ore * re - oi * im, ti = oi * re + ore * im;
    const T f = kBack ? T(1) : T(0.5) * scale;
    to[2 * k] = f * (kBack ? er - ti : er + ti);
    to[2 * k + 1] = f * (kBack ? ei + tr : ei - tr);
  };
  one(0);
  int64_t k = 1;
  const auto half = hn::Set(d, T(0.5) * scale);
  for (; k + kL <= n; k += kL) {
    auto ar = hn::Zero(d), ai = ar, br = ar, bi = ar, re = ar, im = ar;
    hn::LoadInterleaved2(d, from + 2 * k, ar, ai);
    hn::LoadInterleaved2(d, from + 2 * (n - k - kL + 1), br, bi);
    hn::LoadInterleaved2(d, w + 2 * k, re, im);
    using V = decltype(ar);
    const auto x = fold<kBack>(
        Complex<V>{ar, ai}, Complex<V>{hn::Reverse(d, br), hn::Reverse(d, bi)},
        re, im, half);
    hn::StoreInterleaved2(x.re, x.im, d, to + 2 * k);
  }
  for (; k < n + !kBack; ++k) one(k);
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
    // Reversed pairs of (re, im) are reversed lanes, exchanged in pairs.
    const auto x = hn::Reverse2(d, hn::Reverse(d, hn::LoadU(d, line + 2 * k)));
    const auto y = hn::OddEven(hn::Sub(zero, x), x);
    hn::StoreU(y, d, line + 2 * (n - k - kPairs + 1));
  }
#endif
  for (; k <= count; ++k) {
    line[(n - k) * step] = line[k * step];
    line[(n - k) * step + 1] = -line[k * step + 1];
  }
}

/// From lines to lines; what is not folded passes by the tile at both ends.
template <class T>
void through(const Plan<T>& plan, const Reader<T>& read, const Writer<T>& write,
             T* a, T* b) {
  const size_t passes = plan.passes.size();
  if (!in_blocks(plan)) {
    read(0, plan.n, a);
    write(run_passes(plan, 0, passes, a, b), 0, plan.n);
    return;
  }
  first_pass(plan, read, b, a);
  const T* done = run_passes(plan, 1, passes - 1, a, b);
  last_pass(plan, done, done == a ? b : a, write);
}

/// Lines that are folded, or of which only some points are written.
template <class T>
void folded(const Plan<T>& plan, Folding folding, const Reader<T>& read,
            const Writer<T>& write, int64_t points, T* room) {
  const int64_t size = 2 * kLanes<T> * (plan.n + 1);
  T *a = room, *b = a + size, *c = b + size;
  if (folding == Folding::kMirrored) {
    read(0, plan.n / 2 + 1, a);
    mirror_tile(plan.n, a);
  } else {
    read(0, plan.n + (folding == Folding::kToHalves), a);
  }
  if (folding == Folding::kToHalves) {
    fold_tile<true>(plan, a, c);
    // The forward transform of the swapped is the one back, swapped.
    for (int64_t j = 0; j < plan.n; ++j) {
      T* p = c + j * 2 * kLanes<T>;
      for (int64_t l = 0; l < kLanes<T>; ++l) std::swap(p[l], p[kLanes<T> + l]);
    }
    std::swap(a, c);
  }
  T* done = run_passes(plan, 0, plan.passes.size(), a, b);
  if (folding == Folding::kFromHalves) {
    fold_tile<false>(plan, done, c);
    done = c;
  }
  write(done, 0, points);
}

template <class T>
void tile(const Plan<T>& plan, Folding folding, const Lines<const T>& in,
          const Lines<T>& out, bool back, T scale, T* room) {
  // What is folded is folded with real and imaginary parts in their places.
  const bool swapped =
      folding == Folding::kNone || folding == Folding::kMirrored;
  const Reader<T> read(in, back && swapped);
  int64_t points = plan.n + (folding == Folding::kFromHalves);
  if (out.points) points = out.points;
  const Writer<T> write(out, back, {scale});
  const bool plain = folding == Folding::kNone || folding == Folding::kSwapped;
  if (points == plan.n && plain)
    through(plan, read, write, room, room + 2 * kLanes<T> * (plan.n + 1));
  else
    folded(plan, folding, read, write, points, room);
}

/// Columns [begin, end) of n1 x n2 points, in tiles, transformed and turned;
/// mid gets them as rows, n2 x n1.
template <class T>
void columns(const Plan<T>& plan, const T* in, T* mid, bool back, int64_t begin,
             int64_t end, T* room) {
  constexpr int64_t kW = kLanes<T>;
  const int64_t n1 = plan.first->n, n2 = plan.second->n;
  for (int64_t j = begin; j < end; j += kW) {
    Lines<const T> from{{}, std::min(kW, end - j), 2 * n2, 1, 0};
    Lines<T> to{{}, from.count, 2, 1, 0};
    for (int64_t l = 0; l < from.count; ++l) {
      from.line[size_t(l)] = in + 2 * (j + l);
      to.line[size_t(l)] = mid + 2 * n1 * (j + l);
    }
    Factor<T> factor{T(1), plan.fine.data()};
    if (plan.coarse.empty())
      factor.fine += j * n1 * 2;
    else
      factor.coarse = plan.coarse.data() + j / kW * n1 * 2;
    through<T>(*plan.first, {from, back}, {to, false, factor}, room,
               room + 2 * kW * n1);
  }
}

template <class T>
void multiply(const T* a, const T* b, T* out, int64_t n, bool swap_in,
              bool swap_out, T scale) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kL = int64_t(hn::MaxLanes(d));
  const auto factor = hn::Set(d, scale);
  int64_t j = 0;
  for (; j + kL <= n; j += kL) {
    auto x = factor, y = factor, re = factor, im = factor;
    hn::LoadInterleaved2(d, a + 2 * j, x, y);
    hn::LoadInterleaved2(d, b + 2 * j, re, im);
    using V = decltype(x);
    const auto z = times(swap_in ? Complex<V>{y, x} : Complex<V>{x, y}, re, im);
    const auto zr = hn::Mul(z.re, factor), zi = hn::Mul(z.im, factor);
    hn::StoreInterleaved2(swap_out ? zi : zr, swap_out ? zr : zi, d,
                          out + 2 * j);
  }
  for (; j < n; ++j) {
    const T x = a[2 * j + swap_in], y = a[2 * j + !swap_in];
    const T re = b[2 * j], im = b[2 * j + 1];
    const T zr = (x * re - y * im) * scale, zi = (x * im + y * re) * scale;
    out[2 * j + swap_out] = zr;
    out[2 * j + !swap_out] = zi;
  }
}

#define HOTARU_FFT(T, name) \
  void tile_##name(const Plan<T>& p, Folding f, const Lines<const T>& in, \
                   const Lines<T>& out, bool back, T scale, T* room) { \
    tile(p, f, in, out, back, scale, room); \
  } \
  void columns_##name(const Plan<T>& p, const T* in, T* mid, bool back, \
                      int64_t begin, int64_t end, T* room) { \
    columns(p, in, mid, back, begin, end, room); \
  } \
  void fold_##name(const Plan<T>& p, const T* in, T* out, bool back, \
                   T scale) { \
    if (back) \
      fold_line<true>(p, in, out, scale); \
    else \
      fold_line<false>(p, in, out, scale); \
  } \
  void mirror_##name(T* line, int64_t n, int64_t step) { \
    mirror_line(line, n, step); \
  } \
  void multiply_##name(const T* a, const T* b, T* out, int64_t n, \
                       bool swap_in, bool swap_out, T scale) { \
    multiply(a, b, out, n, swap_in, swap_out, scale); \
  }
HOTARU_FFT(float, f32)
HOTARU_FFT(double, f64)
#undef HOTARU_FFT

}  // namespace hotaru::cpu::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu::fft {
namespace {

HWY_EXPORT(tile_f32);
HWY_EXPORT(tile_f64);
HWY_EXPORT(columns_f32);
HWY_EXPORT(columns_f64);
HWY_EXPORT(fold_f32);
HWY_EXPORT(fold_f64);
HWY_EXPORT(mirror_f32);
HWY_EXPORT(mirror_f64);
HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);

#define HOTARU_FFT_CALL(name, ...) \
  if constexpr (sizeof(T) == 4) \
    HWY_DYNAMIC_DISPATCH(name##_f32)(__VA_ARGS__); \
  else \
    HWY_DYNAMIC_DISPATCH(name##_f64)(__VA_ARGS__)

template <class T>
void columns(const Plan<T>& plan, const T* in, T* mid, bool back, int64_t begin,
             int64_t end, T* room) {
  HOTARU_FFT_CALL(columns, plan, in, mid, back, begin, end, room);
}

template <class T>
void multiply(const T* a, const T* b, T* out, int64_t n, bool swap_in,
              bool swap_out, T scale) {
  HOTARU_FFT_CALL(multiply, a, b, out, n, swap_in, swap_out, scale);
}

/// Bailey's: columns, factors, rows; their lines in tiles.
template <class T>
void four_steps(const Plan<T>& plan, const T* in, T* out, bool back, T scale) {
  constexpr int64_t kW = kLanes<T>;
  const int64_t n1 = plan.first->n, n2 = plan.second->n;
  const Room<T> mid(2 * plan.n);
  const auto tiles = [&](int64_t lines, int64_t points, const auto& f) {
    const int64_t grain = std::max<int64_t>(1, kGrainSize / (points * kW));
    parallel_for(0, (lines + kW - 1) / kW, grain,
                 [&](int64_t begin, int64_t end) {
                   const Room<T> room(tile_room<T>(points));
                   f(begin * kW, std::min(lines, end * kW), room.data());
                 });
  };
  tiles(n2, n1, [&](int64_t begin, int64_t end, T* room) {
    columns(plan, in, mid.data(), back, begin, end, room);
  });
  tiles(n1, n2, [&](int64_t begin, int64_t end, T* room) {
    for (int64_t k = begin; k < end; k += kW) {
      Lines<const T> from{{}, std::min(kW, end - k), 2 * n1, 1, 0};
      Lines<T> to{{}, from.count, 2 * n1, 1, 0};
      for (int64_t l = 0; l < from.count; ++l) {
        from.line[size_t(l)] = mid.data() + 2 * (k + l);
        to.line[size_t(l)] = out + 2 * (k + l);
      }
      // Swapped already where it goes back: here only for the store.
      transform_tile(*plan.second, Folding::kSwapped, from, to, back, scale,
                     room);
    }
  });
}

/// Bluestein's (1970): jk = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a
/// convolution with a chirp.
template <class T>
void convolution(const Plan<T>& plan, const T* in, T* out, bool back, T scale) {
  const int64_t length = plan.around->n;
  const Room<T> room(2 * length);
  T* wave = room.data();
  multiply(in, plan.chirp.data(), wave, plan.n, back, false, T(1));
  std::fill(wave + 2 * plan.n, wave + 2 * length, T(0));
  transform_line(*plan.around, wave, wave, false, T(1));
  multiply(wave, plan.spectrum.data(), wave, length, false, false, T(1));
  transform_line(*plan.around, wave, wave, true, T(1));
  multiply(wave, plan.chirp.data(), out, plan.n, false, back, scale);
}

}  // namespace

template <class T>
void transform_tile(const Plan<T>& plan, Folding folding,
                    const Lines<const T>& in, const Lines<T>& out, bool back,
                    T scale, T* room) {
  HOTARU_FFT_CALL(tile, plan, folding, in, out, back, scale, room);
}

template <class T>
void transform_line(const Plan<T>& plan, const T* in, T* out, bool back,
                    T scale) {
  if (plan.around) return convolution(plan, in, out, back, scale);
  if (plan.first) return four_steps(plan, in, out, back, scale);
  const Room<T> room(tile_room<T>(plan.n));
  const Lines<const T> from{{in}, 1, 2, 1, 0};
  const Lines<T> to{{out}, 1, 2, 1, 0};
  transform_tile(plan, Folding::kNone, from, to, back, scale, room.data());
}

template <class T>
void mirror_line(T* line, int64_t n, int64_t step) {
  HOTARU_FFT_CALL(mirror, line, n, step);
}

template <class T>
void from_halves(const Plan<T>& plan, const T* in, T* out, T scale) {
  HOTARU_FFT_CALL(fold, plan, in, out, false, scale);
}

template <class T>
void to_halves(const Plan<T>& plan, const T* in, T* out) {
  HOTARU_FFT_CALL(fold, plan, in, out, true, T(1));
}

#define HOTARU_FFT(T) \
  template void transform_tile<T>(const Plan<T>&, Folding, \
                                  const Lines<const T>&, const Lines<T>&, \
                                  bool, T, T*); \
  template void transform_line<T>(const Plan<T>&, const T*, T*, bool, T); \
  template void mirror_line<T>(T*, int64_t, int64_t); \
  template void from_halves<T>(const Plan<T>&, const T*, T*, T); \
  template void to_halves<T>(const Plan<T>&, const T*, T*);
HOTARU_FFT(float)
HOTARU_FFT(double)
#undef HOTARU_FFT

}  // namespace hotaru::cpu::fft
#endif
