// Fourier transforms by T. Stockham's algorithm, whose passes leave points in
// order: a block for some lines. See params/fft.h for how it is launched.
#include <utility>

#include "hotaru/backend/cuda/device/half_turns.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/fft.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
struct alignas(2 * sizeof(T)) Number {
  T re, im;
};
template <class T>
__device__ inline Number<T> operator+(Number<T> a, Number<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
__device__ inline Number<T> operator-(Number<T> a, Number<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
__device__ inline Number<T> operator*(Number<T> a, Number<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
__device__ inline Number<T> operator*(T a, Number<T> b) {
  return {a * b.re, a * b.im};
}
template <class T>
__device__ inline Number<T> swapped(Number<T> a) {
  return {a.im, a.re};
}
/// -i a
template <class T>
__device__ inline Number<T> turned(Number<T> a) {
  return {a.im, -a.re};
}

/// exp(-pi i k / n), in double and rounded once.
template <class T>
__device__ inline Number<T> root(uint64_t k, uint32_t n) {
  const auto x = half_turns(double(k) / double(n));
  return {T(x.cos), T(-x.sin)};
}

// --- ends of lines -----------------------------------------------------------

template <class T>
__device__ Number<T> chirp(const FftSide& side, uint32_t j) {
  if (!side.mirrored_chirp)
    return root<T>(uint64_t(j) * j % (2 * uint64_t(side.chirp)), side.chirp);
  const uint32_t back = side.length - j;
  if (back < j) j = back;
  if (j >= side.chirp) return {0, 0};
  const auto x =
      root<T>(uint64_t(j) * j % (2 * uint64_t(side.chirp)), side.chirp);
  return {x.re, -x.im};
}

/// Number x as one side treats it.
template <class T>
__device__ Number<T> treated(const FftSide& side, uint32_t j, Number<T> x) {
  if (side.swap_first) x = swapped(x);
  if (side.chirp != 0) x = x * chirp<T>(side, j);
  if (side.spectrum) x = x * static_cast<const Number<T>*>(side.spectrum)[j];
  if (side.swap_last) x = swapped(x);
  return x;
}

template <class T>
__device__ Number<T> read(const FftSide& side, int64_t offset, uint32_t j) {
  if (j >= side.points) return {0, 0};
  const char* line = static_cast<const char*>(side.data) + offset;
  Number<T> x{1, 0};
  if (side.numbers == FftNumbers::kComplex) {
    x = *reinterpret_cast<const Number<T>*>(line + j * side.step);
  } else if (side.numbers == FftNumbers::kReal) {
    x.re = *reinterpret_cast<const T*>(line + j * side.step);
  } else if (side.numbers == FftNumbers::kHermitian) {
    const uint32_t mirror = side.points - j;
    const bool second = mirror < j;
    x = *reinterpret_cast<const Number<T>*>(line +
                                            (second ? mirror : j) * side.step);
    if (second) x.im = -x.im;
    if (j == 0 || j == mirror) x.im = 0;
  }
  return treated(side, j, x);
}

template <class T>
__device__ void write(const FftSide& side, int64_t offset, uint32_t j,
                      Number<T> x) {
  if (j >= side.points) return;
  x = T(side.scale) * treated(side, j, x);
  char* at = static_cast<char*>(side.data) + offset + j * side.step;
  if (side.numbers == FftNumbers::kReal)
    *reinterpret_cast<T*>(at) = x.re;
  else
    *reinterpret_cast<Number<T>*>(at) = x;
}

__device__ FftLine line_at(const FftParams& p, uint32_t line) {
  if (line >= p.total) line = p.total - 1;
  uint32_t batch[1] = {p.columns.divide(line)};
  uint32_t column[1] = {line - batch[0] * p.columns.divisor};
  FftLine out;
  out.inner = column[0] - p.inner.divide(column[0]) * p.inner.divisor;
  int64_t at[1][2];
  p.column.find(column, at);
  out.first = uint32_t(at[0][0]);
  out.begin = uint32_t(at[0][1]);
  p.batch.find(batch, at);
  out.from = at[0][0];
  out.to = at[0][1];
  return out;
}

/// f(line of the block, point) for each, in the order that a side wants.
template <class F>
__device__ void for_points(const FftParams& p, bool across, const F& f) {
  const uint32_t n = p.n.divisor, lines = p.lines.divisor;
  for (uint32_t e = threadIdx.x; e < n * lines; e += kBlock) {
    const Divider& inner = across ? p.lines : p.n;
    const uint32_t outside = inner.divide(e);
    const uint32_t inside = e - outside * inner.divisor;
    f(across ? inside : outside, across ? outside : inside);
  }
}

// --- passes ------------------------------------------------------------------

template <class T>
__device__ inline void butterfly(Number<T> (&x)[2]) {
  const auto a = x[0];
  x[0] = a + x[1];
  x[1] = a - x[1];
}
template <class T>
__device__ inline void butterfly(Number<T> (&x)[3]) {
  constexpr T kSine = T(0.866025403784438647);  // of 2 pi / 3
  const auto sum = x[1] + x[2], side = turned(kSine * (x[1] - x[2]));
  const auto middle = x[0] - T(0.5) * sum;
  x[0] = x[0] + sum;
  x[1] = middle + side;
  x[2] = middle - side;
}
template <class T>
__device__ inline void butterfly(Number<T> (&x)[4]) {
  const auto a = x[0] + x[2], b = x[0] - x[2];
  const auto c = x[1] + x[3], d = turned(x[1] - x[3]);
  x[0] = a + c;
  x[1] = b + d;
  x[2] = a - c;
  x[3] = b - d;
}
template <class T>
__device__ inline void butterfly(Number<T> (&x)[5]) {
  // Cosines and sines of 2 pi / 5 and 4 pi / 5.
  constexpr T c1 = T(0.309016994374947424), c2 = T(-0.809016994374947424);
  constexpr T s1 = T(0.951056516295153572), s2 = T(0.587785252292473129);
  const auto a = x[1] + x[4], b = x[2] + x[3];
  const auto d = turned(x[1] - x[4]), e = turned(x[2] - x[3]);
  const auto near = x[0] + c1 * a + c2 * b, far = x[0] + c2 * a + c1 * b;
  const auto side = s1 * d + s2 * e, other = s2 * d - s1 * e;
  x[0] = x[0] + a + b;
  x[1] = near + side;
  x[2] = far + other;
  x[3] = far - other;
  x[4] = near - side;
}
template <class T>
__device__ inline void butterfly(Number<T> (&x)[8]) {
  constexpr T kHalf = T(0.707106781186547524);  // sqrt(1 / 2)
  Number<T> even[4] = {x[0], x[2], x[4], x[6]};
  Number<T> odd[4] = {x[1], x[3], x[5], x[7]};
  butterfly(even);
  butterfly(odd);
  odd[1] = kHalf * (odd[1] + turned(odd[1]));
  odd[2] = turned(odd[2]);
  odd[3] = kHalf * (turned(odd[3]) - odd[3]);
  HOTARU_UNROLL
  for (int k = 0; k < 4; ++k) {
    x[k] = even[k] + odd[k];
    x[k + 4] = even[k] - odd[k];
  }
}

/// roots: exp(-2 pi i k / n) for k < n.
template <int kRadix, class T>
__device__ void run_pass(const FftParams& p, const FftPass& pass,
                         const Number<T>* roots, const Number<T>* from,
                         Number<T>* to) {
  const uint32_t n = p.n.divisor, apart = pass.count.divisor;
  const uint32_t s = pass.stride.divisor;
  for (uint32_t t = threadIdx.x; t < apart * p.lines.divisor; t += kBlock) {
    const uint32_t line = pass.count.divide(t), i = t - line * apart;
    const uint32_t m = pass.stride.divide(i), q = i - m * s;
    Number<T> x[kRadix];
    HOTARU_UNROLL
    for (int j = 0; j < kRadix; ++j) x[j] = from[line * n + i + j * apart];
    butterfly(x);
    Number<T>* out = to + line * n + q + s * kRadix * m;
    out[0] = x[0];
    HOTARU_UNROLL
    for (int k = 1; k < kRadix; ++k) out[k * s] = x[k] * roots[m * k * s];
  }
}

/// Runs a pass of any radix, by its definition, a thread for each result.
template <class T>
__device__ void run_pass(const FftParams& p, const FftPass& pass,
                         const Number<T>* roots, const Number<T>* from,
                         Number<T>* to) {
  const uint32_t n = p.n.divisor, apart = pass.count.divisor;
  const uint32_t s = pass.stride.divisor, radix = pass.radix;
  for (uint32_t t = threadIdx.x; t < n * p.lines.divisor; t += kBlock) {
    const uint32_t line = p.n.divide(t), o = t - line * n;
    const uint32_t u = pass.stride.divide(o), q = o - u * s;
    const uint32_t m = pass.degree.divide(u), k = u - m * radix;
    const Number<T>* x = from + line * n + q + s * m;
    Number<T> sum = x[0];
    uint32_t at = 0;
    HOTARU_NO_UNROLL
    for (uint32_t j = 1; j < radix; ++j) {
      at += k * apart;
      if (at >= n) at -= n;
      sum = sum + x[j * apart] * roots[at];
    }
    to[t] = sum * roots[m * k * s];
  }
}

template <class T>
__device__ void fft(const FftParams& p) {
  const uint32_t n = p.n.divisor, lines = p.lines.divisor;
  auto* roots = dynamic_shared<Number<T>>();
  Number<T>*a = roots + n, *b = a + n * lines;
  auto* places = reinterpret_cast<FftLine*>(b + n * lines);
  const uint32_t first = blockIdx.x * lines;
  const FftLine own = line_at(p, first);
  for (uint32_t i = threadIdx.x; i < n; i += kBlock)
    roots[i] = root<T>(2 * uint64_t(i), n);
  if (lines > 1) {
    for (uint32_t i = threadIdx.x; i < lines; i += kBlock)
      places[i] = line_at(p, first + i);
    __syncthreads();
  }
  const auto place = [&](uint32_t line) {
    if (lines > 1) return places[line];
    return own;
  };
  for_points(p, p.source.across, [&](uint32_t line, uint32_t j) {
    const FftLine at = place(line);
    a[line * n + j] =
        read<T>(p.source, at.from, at.first + j * p.source.stride);
  });
  __syncthreads();
  for (int32_t i = 0; i < p.passes; ++i) {
    const FftPass& pass = p.pass[i];
    if (pass.radix == 8)
      run_pass<8>(p, pass, roots, a, b);
    else if (pass.radix == 4)
      run_pass<4>(p, pass, roots, a, b);
    else if (pass.radix == 2)
      run_pass<2>(p, pass, roots, a, b);
    else if (pass.radix == 3)
      run_pass<3>(p, pass, roots, a, b);
    else if (pass.radix == 5)
      run_pass<5>(p, pass, roots, a, b);
    else
      run_pass(p, pass, roots, a, b);
    __syncthreads();
    std::swap(a, b);
  }
  for_points(p, p.target.across, [&](uint32_t line, uint32_t k) {
    if (first + line >= p.total) return;
    const FftLine at = place(line);
    Number<T> x = a[line * n + k];
    if (p.twiddle != 0) x = x * root<T>(2 * uint64_t(k) * at.inner, p.twiddle);
    write(p.target, at.to, at.begin + k * p.target.stride, x);
  });
}

}  // namespace

#define HOTARU_FFT(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(Fft_##suffix, 3, FftParams, fft<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_FFT, )

}  // namespace hotaru::cuda
