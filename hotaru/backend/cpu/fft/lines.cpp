#include "hotaru/backend/cpu/fft/lines.h"

#include "hotaru/backend/cpu/fft/room.h"
#include "hotaru/runtime/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/fft/lines.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: they, too, are compiled for each target.
#include "hotaru/backend/cpu/fft/fold-inl.h"
#include "hotaru/backend/cpu/fft/line-inl.h"
#include "hotaru/backend/cpu/fft/passes-inl.h"
#include "hotaru/backend/cpu/fft/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
  T *a = room, *b = a + size;
  if (folding == Folding::kMirrored) {
    read(0, plan.n / 2 + 1, a);
    mirror_tile(plan.n, a);
  } else {
    read(0, plan.n + (folding == Folding::kToHalves), a);
  }
  // The forward transform of the swapped is the one back, swapped.
  if (folding == Folding::kToHalves) fold_tile<true>(plan, a);
  T* done = run_passes(plan, 0, plan.passes.size(), a, b);
  if (folding == Folding::kFromHalves) fold_tile<false>(plan, done);
  write(done, 0, points);
}

template <class T>
void tile(const Plan<T>& plan, Folding folding, const Lines<const T>& in,
          const Lines<T>& out, bool back, T scale, T* room) {
  // Folding happens with real and imaginary parts in their places.
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
  void near_##name(const Plan<T>& p, const T* in, T* out, bool back, T scale, \
                   T* room) { \
    near_line(p, in, out, back, scale, room); \
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
HWY_EXPORT(near_f32);
HWY_EXPORT(near_f64);
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
void transform_near(const Plan<T>& plan, const T* in, T* out, bool back,
                    T scale, T* room) {
  HOTARU_FFT_CALL(near, plan, in, out, back, scale, room);
}

template <class T>
void transform_line(const Plan<T>& plan, const T* in, T* out, bool back,
                    T scale) {
  if (plan.near) {
    const Room<T> room(near_room(plan));
    return transform_near(plan, in, out, back, scale, room.data());
  }
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
  template void transform_near<T>(const Plan<T>&, const T*, T*, bool, T, T*); \
  template void transform_line<T>(const Plan<T>&, const T*, T*, bool, T); \
  template void mirror_line<T>(T*, int64_t, int64_t); \
  template void from_halves<T>(const Plan<T>&, const T*, T*, T); \
  template void to_halves<T>(const Plan<T>&, const T*, T*);
HOTARU_FFT(float)
HOTARU_FFT(double)
#undef HOTARU_FFT

}  // namespace hotaru::cpu::fft
#endif
