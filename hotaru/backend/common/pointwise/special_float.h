// Special functions of single precision as straight-line code, so that loops
// over them vectorise: in double, rounded once, since nobody feels their speed.
// Polynomials are own fits (through Chebyshev's nodes, by falling powers);
// beside each stands its relative error before rounding.
#pragma once

#include "hotaru/backend/common/pointwise/vector_functions.h"

namespace hotaru::special_float {

using vmath::select;

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// C, T: float, double.
template <class C, size_t kCount, class T>
HOTARU_INLINE T polynomial(const C (&c)[kCount], T x) {
  T y = c[0];
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

/// I of order 0 or 1, exp(-|x|) I if scaled, in double. Infinity gives NaN
/// unless scaled, as PyTorch has it.
template <int kOrder, bool kScaled>
HOTARU_INLINE float bessel_i(float x) {
  constexpr double kFar = 5;
  const double a = std::fabs(x);
  const double small = a < kFar ? a : kFar, large = a < kFar ? kFar : a;
  double near = polynomial(kOrder ? kI1Near : kI0Near, small * small);
  if (kOrder) near *= small;
  if (kScaled) near *= vmath::exp_wide(-small);
  double far = polynomial(kOrder ? kI1Far : kI0Far, 10.0 / large - 1.0) /
               std::sqrt(large);
  if (!kScaled) far *= vmath::exp_wide(large > 100.0 ? 100.0 : large);
  float y = float(a < kFar ? near : far);
  if (!kScaled) y = select(std::fabs(x) == kInf, kNaN, y);
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

// Polynomials in x^2 / 2 - 1 for 0 < x <= 2: I0 and I1 / x (2e-8, 5e-8), and
// what is left of K0 = -log(x / 2) I0 + ... and K1 = log(x / 2) I1 + ... / x
// (within 3e-8 and 6e-8).
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

/// K of order 0 or 1, exp(x) K if scaled, in double. Infinite at 0, NaN below.
template <int kOrder, bool kScaled>
HOTARU_INLINE float bessel_k(float x) {
  const double wide = x;
  const double small = wide < 2.0 ? wide : 2.0, large = wide < 2.0 ? 2.0 : wide;
  const double u = 0.5 * small * small - 1.0;
  const double l = vmath::log_wide(0.5 * small);
  double near = kOrder ? l * small * polynomial(kI1Of2, u) +
                             polynomial(kK1Near, u) / small
                       : polynomial(kK0Near, u) - l * polynomial(kI0Of2, u);
  if (kScaled) near *= vmath::exp_wide(small);
  double far = polynomial(kOrder ? kK1Far : kK0Far, 4.0 / large - 1.0) /
               std::sqrt(large);
  if (!kScaled) far *= vmath::exp_wide(large > 700.0 ? -700.0 : -large);
  const auto y = float(wide < 2.0 ? near : far);
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
// - 1 for w < 5, of sqrt(w) between sqrt(5) and 4.1 and between 4 and 10.3,
// both mapped to [-1, 1] (5e-9, 4e-9, 3e-9).
inline constexpr double kErfinvCentral[] = {
    4.45550204185e-06, -3.33366802324e-05, 2.43901155608e-05,
    0.000284068243715, -0.000835794500542, -0.000484344901779,
    0.00852569234234,  -0.0195741953569,   -0.0261082502534,
    0.616600723569,    1.50140935111};
inline constexpr double kErfinvTail[] = {
    -1.7091212664e-05,  5.85783185932e-05, -3.48938890831e-05,
    -0.000211098374887, 0.000763624403032, -0.00155399077469,
    0.00247829430259,   -0.00379807802671, 0.0055620729448,
    0.935970653319,     3.00152681146};
inline constexpr double kErfinvFar[] = {
    -1.42295171602e-05, 3.00752729003e-05,  -2.19943534738e-05,
    4.80838967512e-05,  -0.000143194490989, 0.000268114067201,
    -0.00042037560496,  0.000483568788316,  0.000299083801516,
    -0.00505091511232,  3.17659333137,      7.02029748101};

/// erfinv(x) / x. kFar: whether w may be that of a 1 - |x| which only ndtri
/// can name.
template <bool kFar>
HOTARU_INLINE double erfinv_factor(double w) {
  // Divisions by what is constant are none.
  constexpr double kRoot5 = 2.2360679774997896964, kEnd = 4.1;
  constexpr double kTail = 1 / (kEnd - kRoot5), kFurther = 1 / 6.3;
  const double s = std::sqrt(w);
  const double central = polynomial(kErfinvCentral, w * 0.4 - 1.0);
  const double tail =
      polynomial(kErfinvTail, (2.0 * s - (kRoot5 + kEnd)) * kTail);
  const double y = w < 5.0 ? central : tail;
  if (!kFar) return y;
  const double far = polynomial(kErfinvFar, (2.0 * s - 14.3) * kFurther);
  return s < kEnd ? y : far;
}

/// Rounded once from double.
HOTARU_INLINE float erfinv(float x) {
  const double wide = x, w = -vmath::log_wide((1.0 - wide) * (1.0 + wide));
  const auto y = float(wide * erfinv_factor<false>(w));
  const float a = std::fabs(x);
  const float end = select(a == 1.0f, std::copysign(kInf, x), kNaN);
  return select(a < 1.0f, y, end);
}

HOTARU_INLINE float ndtri(float p) {
  const double wide = p, x = 2.0 * wide - 1.0;
  const double w = -vmath::log_wide(4.0 * wide * (1.0 - wide));
  const auto y = float(1.41421356237309505 * x * erfinv_factor<true>(w));
  const float end = select(p == 0.0f, -kInf, select(p == 1.0f, kInf, kNaN));
  return select((p > 0.0f) & (p < 1.0f), y, end);
}

// erf(x) / x for |x| <= 1, of x^2 (Cephes), and e^(x^2) erfc(x) / t for
// 1 <= x <= 11 and t = 1 / (1 + x), of t mapped to [-1, 1] (1.5e-9).
inline constexpr double kErf[] = {7.853861353153693e-5, -8.010193625184903e-4,
                                  5.188327685732524e-3, -2.685381193529856e-2,
                                  1.128358514861418e-1, -3.761262582423300e-1,
                                  1.128379165726710};
inline constexpr double kErfcTail[] = {
    -2.30267410613e-06, 7.57100587583e-06, 6.6781944791e-06,  -0.00010107533503,
    0.000190250749558,  0.000846427371131, -0.00473997363038, -0.00810442401931,
    0.125645354385,     0.741418646036};

/// In double: half of erfc(-x / sqrt(2)).
HOTARU_INLINE float ndtr(float x) {
  const double wide = std::fabs(x) * 0.70710678118654752440;
  const double a = wide > 11.0 ? 11.0 : wide, far = a < 1.0 ? 1.0 : a;
  const double half = 0.5 * a * polynomial(kErf, a * a), t = 1.0 / (1.0 + far);
  const double tail = 0.5 * t * vmath::exp_wide(-far * far) *
                      polynomial(kErfcTail, 4.8 * t - 1.4);
  const double less = a < 1.0 ? 0.5 - half : tail;
  return float(x < 0.0f ? less : 1.0 - less);
}

HOTARU_INLINE float entr(float x) {
  const auto y = float(-vmath::log_wide(x) * x);
  return select(x == 0.0f, 0.0f, select(x < 0.0f, -kInf, y));
}

// --- parts of a number -------------------------------------------------------

/// Tells whether x is neither 0 nor infinite nor NaN.
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
