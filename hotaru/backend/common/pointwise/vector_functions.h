// More elementary functions as straight-line code (vector_math.h): single
// precision within 3 units in the last place, partly by way of double; the
// other types are the C library's. Polynomials are those of Cephes or series
// of Taylor, cut where the rest is below single precision.
#pragma once

#include "hotaru/backend/common/pointwise/vector_math.h"

namespace hotaru::vmath {

#ifndef __CUDACC__

/// Chooses by masks where compilers would branch, which costs most where the
/// condition cannot be foreseen. T: float, double.
template <class T>
HOTARU_INLINE T blend(bool condition, T yes, T no) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const Bits mask = Bits(0) - Bits(condition);
  return std::bit_cast<T>((std::bit_cast<Bits>(yes) & mask) |
                          (std::bit_cast<Bits>(no) & ~mask));
}

/// e^x in double, to ten digits, for |x| <= 700.
HOTARU_INLINE double exp_wide(double x) {
  constexpr double kMagic = 0x1.8p52;
  const double shifted = x * 1.44269504088896340736 + kMagic;
  const double r = x - (shifted - kMagic) * 0.69314718055994530942;
  double p = 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // The multiple of ln(2) is in the lowest bits of the sum.
  return p *
         std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
}

/// log(x) in double, to ten digits, for positive normal x: log(2) n + log(m),
/// m in [sqrt(1/2), sqrt(2)).
HOTARU_INLINE double log_wide(double x) {
  const auto bits = std::bit_cast<uint64_t>(x) - 0x3fe6a09e667f3bcd;
  const double n = std::bit_cast<double>((bits + 0x4000000000000000) >> 52 |
                                         0x4330000000000000) -
                   (0x1p52 + 1024);
  const double m =
      std::bit_cast<double>((bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
  return log_series(m) + n * 0.69314718055994530942;
}

HOTARU_INLINE float exp2(float x) {
  const float below = select(x < 129.0f, x, 129.0f);
  const float c = select(below > -151.0f, below, -151.0f);
  const float n = round_small(c), t = c - n;
  const int32_t i = int32_t(n);
  const int32_t half = i >> 1;
  float p = kPower[0];
  for (int k = 1; k < 6; ++k) p = p * t + kPower[k];
  const float y = (p * t + 1.0f) * exp2i(half) * exp2i(i - half);
  return select(x != x, x, y);
}

/// x 2^t for |t| <= 1, rounded once.
HOTARU_INLINE float times_exp2(float x, float t) {
  return float(x * exp_wide(t * 0.69314718055994530942));
}

/// log(1 + e^x) for x <= 0, to nine digits: 2 artanh(u / (u + 2)), u = e^x, an
/// own fit (1e-10).
HOTARU_INLINE double log_1_plus_exp(double x) {
  const double u = exp_wide(x < -700 ? -700 : x), f = u / (u + 2), z = f * f;
  double p = 0.24393908084;
  p = p * z + 0.213985605067;
  p = p * z + 0.286202074084;
  p = p * z + 0.399987112469;
  p = p * z + 0.666666790264;
  p = p * z + 1.99999999981;
  return p * f;
}
/// log(1 + e^(beta x)) / beta.
HOTARU_INLINE float softplus(float x, float beta) {
  const double z = double(x) * beta, scale = 1.0 / beta;
  const double above = z > 0 ? z : 0;
  return float((above + log_1_plus_exp(-std::fabs(z))) * scale);
}
HOTARU_INLINE float log_sigmoid(float x) {
  const double z = x, below = z < 0 ? z : 0;
  return float(below - log_1_plus_exp(-std::fabs(z)));
}
/// log(e^x + e^y), and log2(2^x + 2^y), of numbers that differ.
HOTARU_INLINE float log_add_exp(float x, float y) {
  const double a = x, b = y, most = a > b ? a : b;
  return float(most + log_1_plus_exp(-std::fabs(a - b)));
}
HOTARU_INLINE float log_add_exp2(float x, float y) {
  constexpr double kLn2 = 0.69314718055994530942;
  const double a = x, b = y, most = a > b ? a : b;
  const double more = log_1_plus_exp(-std::fabs(a - b) * kLn2);
  return float(most + more * 1.44269504088896340736);
}

/// x tanh(log(1 + e^x)) = x n / (n + 2) where n = w (w + 2), w = e^x. From 20
/// on n / (n + 2) is 1.
HOTARU_INLINE float mish(float x) {
  const double c = x > 20.0f ? 20.0 : x < -150.0f ? -150.0 : double(x);
  const double w = exp_wide(c), n = w * (w + 2);
  const double all = x < -150.0f ? 0.0 : n;
  return float(double(x) * all / (n + 2));
}
/// n / (n + 2) + 4 x w (w + 1) / (n + 2)^2.
HOTARU_INLINE float slope_of_mish(float x) {
  const double c = x > 20.0f ? 20.0 : x < -150.0f ? -150.0 : double(x);
  const double w = exp_wide(c), n = w * (w + 2), r = 1 / (n + 2);
  return float((n + 4 * c * w * (w + 1) * r) * r);
}

/// Beyond 90 the result is infinite.
HOTARU_INLINE double exp_of_modulus(float x) {
  const float a = std::fabs(x);
  return exp_wide(select(a < 100.0f, a, 100.0f));
}
HOTARU_INLINE float cosh(float x) {
  const double e = exp_of_modulus(x);
  return select(x != x, x, float(0.5 * (e + 1 / e)));
}
HOTARU_INLINE float sinh(float x) {
  const double e = exp_of_modulus(x);
  const float far = std::copysign(float(0.5 * (e - 1 / e)), x);
  const float z = x * x;
  float p = 1.0f / 39916800;
  p = p * z + 1.0f / 362880;
  p = p * z + 1.0f / 5040;
  p = p * z + 1.0f / 120;
  p = p * z + 1.0f / 6;
  return select(z < 1.0f, p * z * x + x, select(x != x, x, far));
}

/// The ratio of sine and cosine of what is left of the angle, in double.
HOTARU_INLINE float tan(float x) {
  constexpr double kMagic = 0x1.8p52;
  const double angle = x;
  const double shifted = angle * 6.36619772367581382433e-01 + kMagic;
  const double n = shifted - kMagic;
  const double r =
      (angle - n * 1.57079632673412561417e+00) - n * 6.07710050650619224932e-11;
  const double z = r * r;
  double s = -1.9515295891e-4;
  s = s * z + 8.3321608736e-3;
  s = s * z - 1.6666654611e-1;
  s = s * z * r + r;
  double c = 2.443315711809948e-5;
  c = c * z - 1.388731625493765e-3;
  c = c * z + 4.166664568298827e-2;
  c = c * z * z - 0.5 * z + 1.0;
  const bool odd = (std::bit_cast<uint64_t>(shifted) & 1) != 0;
  const double y = (odd ? c : s) / (odd ? -s : c);
  return select(x == 0.0f, x, float(y));
}

/// asin(x) for 0 <= x <= 1/2.
HOTARU_INLINE float asin_kernel(float x, float square) {
  float p = 4.2163199048e-2f;
  p = p * square + 2.4181311049e-2f;
  p = p * square + 4.5470025998e-2f;
  p = p * square + 7.4953002686e-2f;
  p = p * square + 1.6666752422e-1f;
  return p * square * x + x;
}
/// From 1/2 on, asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
HOTARU_INLINE float asin(float x) {
  const float a = std::fabs(x);
  const bool far = a > 0.5f;
  const float z = select(far, 0.5f * (1.0f - a), x * x);
  const float y = asin_kernel(select(far, std::sqrt(z), a), z);
  return std::copysign(
      select(far, (1.57079637f - 2.0f * y) - 4.37113883e-8f, y), x);
}
HOTARU_INLINE float acos(float x) {
  const float a = std::fabs(x);
  const bool far = a > 0.5f;
  const float z = select(far, 0.5f * (1.0f - a), x * x);
  const float y = asin_kernel(select(far, std::sqrt(z), a), z);
  const float twice = 2.0f * y;
  const float left = (3.14159274f - twice) - 8.74227766e-8f;
  const float near = (1.57079637f - std::copysign(y, x)) - 4.37113883e-8f;
  return select(far, select(x > 0.0f, twice, left), near);
}

HOTARU_INLINE float atanh(float x) {
  const float a = std::fabs(x), z = x * x;
  float p = 1.0f / 9;
  p = p * z + 1.0f / 7;
  p = p * z + 1.0f / 5;
  p = p * z + 1.0f / 3;
  const double wide = select(a < 1.0f, a, 0.0f);
  const float far = float(0.5 * log_wide((1 + wide) / (1 - wide)));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const float end = select(a == 1.0f, kInf, kNan);
  return select(a < 0.1f, p * z * x + x,
                std::copysign(select(a < 1.0f, far, end), x));
}

/// From 1 on e^(-x^2) in double, as the square's rounding would be felt.
HOTARU_INLINE float erfc(float x) {
  const float a = std::fabs(x);
  const double square = double(x) * x;
  double p = 7.853861353153693e-5;
  p = p * square - 8.010193625184903e-4;
  p = p * square + 5.188327685732524e-3;
  p = p * square - 2.685381193529856e-2;
  p = p * square + 1.128358514861418e-1;
  p = p * square - 3.761262582423300e-1;
  p = p * square + 1.128379165726710;
  const float near = float(1 - p * x);
  const float c = select(a < 1.0f, 1.0f, select(a < 11.0f, a, 11.0f));
  const auto tail = float(erfc_tail_factor(c) * exp_wide(-double(c) * c));
  const float far = select(x < 0.0f, 2.0f - tail, tail);
  return select(a < 1.0f, near, select(x != x, x, far));
}

/// The least float that is farther away from zero, or nearer to it.
template <class T, class Bits>
HOTARU_INLINE T nextafter_of(T x, T y) {
  const auto bits = std::bit_cast<Bits>(x);
  const bool away = (x < y) == (x > T(0));
  const T step = std::bit_cast<T>(Bits(bits + (away ? Bits(1) : Bits(-1))));
  const T first = std::copysign(std::numeric_limits<T>::denorm_min(), y);
  const T moved = x == T(0) ? first : step;
  return x == y ? y : x != x || y != y ? x + y : moved;
}
HOTARU_INLINE float nextafter(float x, float y) {
  return nextafter_of<float, uint32_t>(x, y);
}
HOTARU_INLINE double nextafter(double x, double y) {
  return nextafter_of<double, uint64_t>(x, y);
}

HOTARU_INLINE float hypot(float x, float y) {
  const auto length = float(std::sqrt(double(x) * x + double(y) * y));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  return std::fabs(x) == kInf || std::fabs(y) == kInf ? kInf : length;
}

/// The remainder of a division that is cut off, exactly: in double, where the
/// quotient has few enough bits.
inline float fmod(float x, float y) {
  const double quotient = double(x) / double(y);
  if (!(std::abs(quotient) < 0x1p29) || !(std::abs(y) < 3.4e38f)) [[unlikely]]
    return std::fmod(x, y);
  const double r = double(x) - double(int32_t(quotient)) * y;
  // A quotient just below an integer may have been rounded to it.
  const double back = r + std::copysign(double(y), double(x));
  return std::copysign(float(r * x < 0 ? back : r), x);
}

/// Without a call of the library, which the oldest processors need.
inline float floor(float x) {
  const float cut = float(int32_t(select(std::fabs(x) < 0x1p23f, x, 0.0f)));
  return select(std::fabs(x) < 0x1p23f, cut - float(int(cut > x)), x);
}
#else
template <class T>
HOTARU_BOTH T blend(bool condition, T yes, T no) {
  return condition ? yes : no;
}
template <class T>
HOTARU_BOTH T nextafter(T x, T y) {
  return ::nextafter(x, y);
}
#endif  // __CUDACC__

template <class T>
HOTARU_BOTH T exp2(T x) {
  return std::exp2(x);
}
template <class T>
HOTARU_BOTH T times_exp2(T x, T t) {
  return x * T(std::exp2(t));
}
template <class T>
HOTARU_BOTH T softplus(T x, T beta) {
  return log1p(exp(x * beta)) / beta;
}
template <class T>
HOTARU_BOTH T log_sigmoid(T x) {
  return (x < T(0) ? x : T(0)) - log1p(exp(-std::fabs(x)));
}
template <class T>
HOTARU_BOTH T log_add_exp(T x, T y) {
  return (x > y ? x : y) + log1p(exp(-std::abs(x - y)));
}
template <class T>
HOTARU_BOTH T log_add_exp2(T x, T y) {
  return (x > y ? x : y) +
         log1p(exp2(-std::abs(x - y))) * T(1.44269504088896340736);
}
template <class T>
HOTARU_BOTH T mish(T x) {
  return x * tanh(log1p(exp(x)));
}
template <class T>
HOTARU_BOTH T slope_of_mish(T x) {
  const T t = tanh(log1p(exp(x)));
  return t + x * sigmoid(x) * (T(1) - t * t);
}
template <class T>
HOTARU_BOTH T cosh(T x) {
  return lib::cosh(x);
}
template <class T>
HOTARU_BOTH T sinh(T x) {
  return lib::sinh(x);
}
template <class T>
HOTARU_BOTH T tan(T x) {
  return lib::tan(x);
}
template <class T>
HOTARU_BOTH T asin(T x) {
  return lib::asin(x);
}
template <class T>
HOTARU_BOTH T acos(T x) {
  return lib::acos(x);
}
template <class T>
HOTARU_BOTH T atanh(T x) {
  return lib::atanh(x);
}
template <class T>
HOTARU_BOTH T erfc(T x) {
  return std::erfc(x);
}
template <class T>
HOTARU_BOTH T hypot(T x, T y) {
  return std::hypot(x, y);
}
template <class T>
HOTARU_BOTH T floor(T x) {
  return std::floor(x);
}
template <class T>
HOTARU_BOTH T fmod(T x, T y) {
  return std::fmod(x, y);
}

}  // namespace hotaru::vmath
