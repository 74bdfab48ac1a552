// Special functions of single precision as straight-line code, so that loops
// over them vectorise. Polynomials are own fits (through Chebyshev's nodes, by
// falling powers); beside each stands its relative error before rounding.
#pragma once

#include "hotaru/backend/common/pointwise/vector_math.h"

/// Those of special.h's list that have such a form.
#define HOTARU_SPECIAL_FLOAT(X) \
  X(entr) \
  X(erfinv) \
  X(frexp_exponent) \
  X(frexp_mantissa) \
  X(i0) \
  X(i0e) \
  X(i1) \
  X(i1e) \
  X(modified_bessel_k0) \
  X(modified_bessel_k1) \
  X(ndtr) \
  X(ndtri) \
  X(scaled_modified_bessel_k0) \
  X(scaled_modified_bessel_k1)

namespace hotaru::special_float {

using vmath::select;

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <size_t kCount>
HOTARU_INLINE float polynomial(const float (&c)[kCount], float x) {
  float y = c[0];
#pragma GCC unroll 16
  for (size_t i = 1; i < kCount; ++i) y = y * x + c[i];
  return y;
}

// --- modified Bessel functions -----------------------------------------------

// I0 and I1 / x for |x| <= 5, of x^2 (4e-9, 1e-8).
inline constexpr float kI0Near[] = {3.95021061e-17f, 8.79923067e-15f,
                                    2.42046726e-12f, 4.70632144e-10f,
                                    6.78203662e-08f, 6.78166043e-06f,
                                    0.000434027868f, 0.015625f,
                                    0.25f,           1.0f};
inline constexpr float kI1Near[] = {1.92115923e-18f, 4.95210454e-16f,
                                    1.50963579e-13f, 3.36251235e-11f,
                                    5.65156055e-09f, 6.78167339e-07f,
                                    5.42534763e-05f, 0.00260416674f,
                                    0.0625f,         0.5f};
// sqrt(x) exp(-x) I(x) for the others, of 10 / x - 1 (3e-8).
inline constexpr float kI0Far[] = {
    -1.0818826e-06f, -2.71088788e-06f, 1.84586412e-07f,
    8.80283915e-06f, 2.18556343e-05f,  6.75305637e-05f,
    0.000410540029f, 0.00566010177f,   0.404244512f};
inline constexpr float kI1Far[] = {
    1.26209261e-06f,  2.9525329e-06f,   -5.95354493e-07f,
    -1.03121965e-05f, -2.59040899e-05f, -8.79892395e-05f,
    -0.000643320614f, -0.0160492212f,   0.383466274f};

/// I of order 0 or 1, exp(-|x|) I if scaled. Infinity gives NaN unless scaled,
/// as PyTorch has it.
template <int kOrder, bool kScaled>
HOTARU_INLINE float bessel_i(float x) {
  constexpr float kFar = 5;
  const float a = std::fabs(x);
  const float small = select(a < kFar, a, kFar),
              large = select(a < kFar, kFar, a);
  float near = polynomial(kOrder ? kI1Near : kI0Near, small * small);
  if (kOrder) near *= small;
  if (kScaled) near *= vmath::exp(-small);
  float far = polynomial(kOrder ? kI1Far : kI0Far, 10.0f / large - 1.0f) /
              std::sqrt(large);
  if (!kScaled) {  // in two halves, as it alone may overflow
    const float root = vmath::exp(0.5f * large);
    far = far * root * root;
  }
  const float y = select(a < kFar, near, far);
  return select(kOrder == 1 && x < 0, -y, y);
}
HOTARU_INLINE float i0(float x) {
  return bessel_i<0, false>(x);
}
HOTARU_INLINE float i0e(float x) {
  return bessel_i<0, true>(x);
}
HOTARU_INLINE float i1(float x) {
  return bessel_i<1, false>(x);
}
HOTARU_INLINE float i1e(float x) {
  return bessel_i<1, true>(x);
}

// Of x^2 / 2 - 1 for 0 < x <= 2: I0 and I1 / x (2e-8, 5e-8), and what is left
// of K0 = -log(x / 2) I0 + ... and K1 = log(x / 2) I1 + ... / x (within 3e-8
// and 6e-8).
inline constexpr float kI0Of2[] = {
    3.23667173e-08f, 2.35815173e-06f, 0.000119820681f, 0.00392856495f,
    0.0735898688f,   0.635861754f,    1.56608295f};
inline constexpr float kI1Of2[] = {
    2.29151897e-09f, 1.94209193e-07f, 1.17878944e-05f, 0.000479282724f,
    0.0117856953f,   0.147179738f,    0.635861754f};
inline constexpr float kK0Near[] = {
    6.09431581e-08f, 4.05566561e-06f, 0.000182805554f, 0.00505339215f,
    0.0717770085f,   0.340497315f,    -0.303620785f};
inline constexpr float kK1Near[] = {
    -7.08262689e-07f, -3.89344968e-05f, -0.00138316874f, -0.0278542265f,
    -0.243838534f,    -0.332240969f,    0.885088265f};
// sqrt(x) exp(x) K(x) for the others, of 4 / x - 1 (4e-8, 2e-8).
inline constexpr float kK0Far[] = {
    -4.14197672e-07f, 1.09510074e-06f, -2.05047991e-06f, 6.66356573e-06f,
    -2.47877997e-05f, 9.96867311e-05f, -0.000479762355f, 0.00303287571f,
    -0.0310714617f,   1.21859539f};
inline constexpr float kK1Far[] = {
    4.92253832e-07f, -1.32153127e-06f, 2.56639373e-06f, -8.56317001e-06f,
    3.29049944e-05f, -0.000139738404f, 0.00073571637f,  -0.00556671107f,
    0.103349738f,    1.36315191f};

/// K of order 0 or 1, exp(x) K if scaled. Infinite at 0, NaN below.
template <int kOrder, bool kScaled>
HOTARU_INLINE float bessel_k(float x) {
  const float small = select(x < 2.0f, x, 2.0f),
              large = select(x < 2.0f, 2.0f, x);
  const float u = 0.5f * small * small - 1.0f, l = vmath::log(0.5f * small);
  float near = kOrder ? l * small * polynomial(kI1Of2, u) +
                            polynomial(kK1Near, u) / small
                      : polynomial(kK0Near, u) - l * polynomial(kI0Of2, u);
  if (kScaled) near *= vmath::exp(small);
  float far = polynomial(kOrder ? kK1Far : kK0Far, 4.0f / large - 1.0f) /
              std::sqrt(large);
  if (!kScaled) far *= vmath::exp(-large);
  const float y = select(x < 2.0f, near, far);
  return select(x == 0.0f, kInf, select(x < 0.0f, kNaN, y));
}
HOTARU_INLINE float modified_bessel_k0(float x) {
  return bessel_k<0, false>(x);
}
HOTARU_INLINE float modified_bessel_k1(float x) {
  return bessel_k<1, false>(x);
}
HOTARU_INLINE float scaled_modified_bessel_k0(float x) {
  return bessel_k<0, true>(x);
}
HOTARU_INLINE float scaled_modified_bessel_k1(float x) {
  return bessel_k<1, true>(x);
}

// --- the normal distribution -------------------------------------------------

// erfinv(x) / x by w = -log(1 - x^2), a variable that M. Giles proposed
// ("Approximating the erfinv function", GPU Computing Gems 2, 2010): of w / 2.5
// - 1 for w < 5 (6e-8), of sqrt(w) between sqrt(5) and 4.1 (4e-8) and between 4
// and 10.3 (3e-8), both mapped to [-1, 1].
inline constexpr float kErfinvCentral[] = {
    -3.40725928e-05f, 3.56078599e-05f, 0.000285724702f, -0.000845699513f,
    -0.000485587865f, 0.00852927286f,  -0.0195738506f,  -0.0261087064f,
    0.616600692f,     1.50140941f};
inline constexpr float kErfinvTail[] = {
    5.91596763e-05f, -7.78804169e-05f, -0.000212382802f, 0.000801528455f,
    -0.00155305129f, 0.00246461877f,   -0.0037983295f,   0.00556380674f,
    0.935970664f,    3.00152683f};
inline constexpr float kErfinvFar[] = {
    -5.72249446e-05f, 0.000122698228f, -0.000112736889f, 0.000203450036f,
    -0.000431087858f, 0.000506379642f, 0.000300396205f,  -0.00505371997f,
    3.1765933f,       7.02029753f};

/// erfinv(x) / x. kFar: whether w may be that of a 1 - |x| which only ndtri
/// can name.
template <bool kFar>
HOTARU_INLINE float erfinv_factor(float w) {
  // Divisions by what is constant are none.
  constexpr float kRoot5 = 2.23606798f, kEnd = 4.1f;
  constexpr float kTail = 1 / (kEnd - kRoot5), kFurther = 1 / 6.3f;
  const float s = std::sqrt(w);
  const float central = polynomial(kErfinvCentral, w * 0.4f - 1.0f);
  const float tail =
      polynomial(kErfinvTail, (2.0f * s - (kRoot5 + kEnd)) * kTail);
  const float y = select(w < 5.0f, central, tail);
  if (!kFar) return y;
  const float far = polynomial(kErfinvFar, (2.0f * s - 14.3f) * kFurther);
  return select(s < kEnd, y, far);
}

HOTARU_INLINE float erfinv(float x) {
  const float w = -vmath::log((1.0f - x) * (1.0f + x));
  return select(std::fabs(x) == 1.0f, std::copysign(kInf, x),
                x * erfinv_factor<false>(w));
}

HOTARU_INLINE float ndtri(float p) {
  const float x = 2.0f * p - 1.0f, w = -vmath::log(4.0f * p * (1.0f - p));
  const float y = 1.41421356f * x * erfinv_factor<true>(w);
  return select(p == 0.0f, -kInf, select(p == 1.0f, kInf, y));
}

/// erfc(|x| / sqrt(2)) / 2 in the tails, made up for what rounding the square
/// lost: an exponential makes that many times larger.
HOTARU_INLINE float ndtr(float x) {
  const float b = std::fabs(x), a = select(b < 15.0f, b, 15.0f);  // 0 beyond
  const float t = a * 0.707106781f, q = select(t < 1.0f, 1.0f, t);
  const double square = 0.5 * double(a) * double(a);
  const float lost = select(t < 1.0f, 0.0f, float(double(t * t) - square));
  const float tail = 0.5f * (vmath::erfc_tail(q) * (1.0f + lost));
  const float half = 0.5f * vmath::erf(t);
  const float above = select(t < 1.0f, 0.5f + half, 1.0f - tail);
  const float below = select(t < 1.0f, 0.5f - half, tail);
  return select(x != x, x, select(x < 0.0f, below, above));
}

HOTARU_INLINE float entr(float x) {
  const float y = -x * vmath::log(x);
  return select(x == 0.0f, 0.0f, select(x < 0.0f, -kInf, y));
}

// --- parts of a number -------------------------------------------------------

/// Whether x is neither 0 nor infinite nor NaN.
HOTARU_INLINE bool has_parts(float x) {
  return (x != 0.0f) & (std::fabs(x) < kInf);
}
/// Subnormals are scaled into the normal range.
HOTARU_INLINE uint32_t normal_bits(float x) {
  const float tiny = std::fabs(x) < 0x1p-126f ? 0x1p24f : 1.0f;
  return std::bit_cast<uint32_t>(x * tiny);
}
HOTARU_INLINE float frexp_mantissa(float x) {
  const uint32_t bits = (normal_bits(x) & 0x807fffffu) | 0x3f000000u;
  return select(has_parts(x), std::bit_cast<float>(bits), x);
}
HOTARU_INLINE float frexp_exponent(float x) {
  const auto e = int32_t(normal_bits(x) >> 23 & 255) - 126;
  const float shift = select(std::fabs(x) < 0x1p-126f, 24.0f, 0.0f);
  return select(has_parts(x), float(e) - shift, 0.0f);
}

}  // namespace hotaru::special_float
