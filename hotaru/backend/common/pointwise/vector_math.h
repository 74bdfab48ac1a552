// Elementary functions as straight-line code over one element, so that loops
// over them vectorise. Single precision is within 3 units in the last place
// (measured in tests/cpp/backend/vector_math_test.cpp); double and
// complex are the C library's. Coefficients are minimax fits in the form
// published with Cephes (S. Moshier, netlib.org/cephes).
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "hotaru/backend/common/both.h"
#include "hotaru/backend/common/complex_math.h"

namespace hotaru::vmath {

/// 2 sqrt(2 / pi), of gelu by tanh.
inline constexpr double kGeluTanh = 1.5957691216057307;

/// CUDA has functions of its own for single precision, which PyTorch takes
/// there; its kernels find them by the templates at the end.
#ifdef __CUDACC__
inline constexpr bool kQuick = false;
inline constexpr float kMostAngle = 0;
using std::cos;
using std::sin;
#else
inline constexpr bool kQuick = true;

/// Chooses without a branch; both sides are evaluated.
HOTARU_INLINE float select(bool condition, float yes, float no) {
  return condition ? yes : no;
}

/// Round to nearest even for |x| < 2^22.
HOTARU_INLINE float round_small(float x) {
  constexpr float kMagic = 0x1.8p23f;
  return (x + kMagic) - kMagic;
}

/// 2^n for integral n in [-126, 127].
HOTARU_INLINE float exp2i(int32_t n) {
  return std::bit_cast<float>((n + 127) << 23);
}

/// x - n ln(2); ln(2) in two parts, so that the first product is exact.
HOTARU_INLINE float minus_ln2(float x, float n) {
  return (x - n * 0.693359375f) - n * -2.12194440e-4f;
}

/// e^r - 1 for |r| <= ln(2)/2.
HOTARU_INLINE float exp_minus_1_kernel(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * r * r + r;
}

/// e^r for |r| <= ln(2)/2.
HOTARU_INLINE float exp_kernel(float r) {
  return exp_minus_1_kernel(r) + 1.0f;
}

HOTARU_INLINE float exp(float x) {
  // Clamped so that the two half powers below neither wrap nor lose the limit;
  // NaN is on no side and goes all the way through.
  const float below = select(89.0f < x, 89.0f, x);
  const float c = select(below < -104.0f, -104.0f, below);
  // The sum's last bits are n.
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = c * 1.44269504088896341f + kMagic;
  const int32_t i =
      std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kMagic);
  const int32_t half = i >> 1;
  const float r = minus_ln2(c, shifted - kMagic);
  return exp_kernel(r) * exp2i(half) * exp2i(i - half);
}

/// log((1 + f) 2^n) for 1 + f in [sqrt(1/2), sqrt(2)).
HOTARU_INLINE float log_kernel(float f, float n) {
  const float z = f * f;
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  const float y = p * f * z + n * -2.12194440e-4f - 0.5f * z;
  return (f + y) + n * 0.693359375f;
}

/// A positive normal number as m 2^e, m in [sqrt(1/2), sqrt(2)).
struct Split {
  float m;
  int32_t e;
};
HOTARU_INLINE Split split(float x) {
  // Below zero the difference wraps around.
  const auto shifted = int32_t(std::bit_cast<uint32_t>(x) - 0x3f3504f3u);
  return {std::bit_cast<float>((shifted & 0x7fffff) + 0x3f3504f3),
          shifted >> 23};
}

/// y where x is positive and finite, else the logarithm of x.
HOTARU_INLINE float log_at_edges(float x, float y) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  y = select(x == kInf, kInf, y);
  y = select(x == 0.0f, -kInf, y);
  return select(x < 0.0f, kNan, select(x != x, x, y));
}

/// x = (1 + f) 2^n as log_kernel() wants it, for positive finite x.
struct LogParts {
  float f, n;
};
HOTARU_INLINE LogParts log_parts(float x) {
  // Subnormals are scaled into the normal range first.
  const bool tiny = x < 0x1p-126f;
  const Split s = split(select(tiny, x * 0x1p23f, x));
  return {s.m - 1.0f, float(s.e) - select(tiny, 23.0f, 0.0f)};
}

HOTARU_INLINE float log(float x) {
  const LogParts s = log_parts(x);
  return log_at_edges(x, log_kernel(s.f, s.n));
}

/// Exact for powers of two.
HOTARU_INLINE float log2(float x) {
  const LogParts s = log_parts(x);
  const float of_m = log_kernel(s.f, 0) * 1.44269504088896341f;
  return log_at_edges(x, s.n + of_m);
}

/// log10(2) in two parts, so that the first product is exact.
HOTARU_INLINE float log10(float x) {
  const LogParts s = log_parts(x);
  const float of_m = log_kernel(s.f, 0) * 0.43429448190325183f;
  return log_at_edges(
      x, s.n * 0x1.344p-2f + (s.n * 4.60503898119521374e-6f + of_m));
}

/// log(m) for m in [sqrt(1/2), sqrt(2)), within 2e-12: six terms of the series
/// of 2 artanh((m - 1) / (m + 1)).
HOTARU_INLINE double log_series(double m) {
  const double f = (m - 1.0) / (m + 1.0), z = f * f;
  double p = 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  p = p * z + 2.0;
  return p * f;
}

/// x^y, rounded once from double, into `out`. False, and some number, unless x
/// is positive and normal and the result, too. log_series() errs by 2e-12, the
/// series of e^r (ten terms) by 7e-12, which y and the exponent make 2e-10 at
/// most.
HOTARU_INLINE bool pow_normal(float x, float y, float& out) {
  const Split s = split(x);
  const double log2 = log_series(s.m) * 1.44269504088896340736 + double(s.e);
  const double power = double(y) * log2;
  constexpr double kMagic = 0x1.8p52;
  const double shifted = power + kMagic;  // its last bits are the integer
  const double r = (power - (shifted - kMagic)) * 0.693147180559945309417;
  double e = 1.0 / 362880;
  e = e * r + 1.0 / 40320;
  e = e * r + 1.0 / 5040;
  e = e * r + 1.0 / 720;
  e = e * r + 1.0 / 120;
  e = e * r + 1.0 / 24;
  e = e * r + 1.0 / 6;
  e = e * r + 0.5;
  e = e * r + 1.0;
  e = e * r + 1.0;
  const auto n = int32_t(uint32_t(std::bit_cast<uint64_t>(shifted)));
  const bool normal =
      (x >= 0x1p-126f) & (x < 0x1p127f) & (power > -125.0) & (power < 126.0);
  out = float(e) * exp2i(n);
  return normal;
}

/// 1 / (1 + e^-x), where e^-x = 2^n (1 + (e^r - 1)), both halved, so that all
/// of 2^n has room, and 0 where that has none. NaN goes all the way through.
HOTARU_INLINE float sigmoid(float x) {
  const float below = select(x > 87.0f, 87.0f, x);
  const float c = -select(below < -89.0f, -89.0f, below);
  // The sum's last bits are n.
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = c * 1.44269504088896341f + kMagic;
  const float p = exp_minus_1_kernel(minus_ln2(c, shifted - kMagic));
  const float half =
      std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + 126) << 23);
  const float sum = half + 0.5f, lost = 0.5f - (sum - half);
  return select(x < -89.0f, 0.0f, 0.5f) / ((p * half + lost) + sum);
}

// a^2 / (1 - tanh(a) / a), of a^2 for a <= 1 (2.3e-9 in tanh), and (2^t - 1) /
// t for |t| <= 1/2 (6e-10 in tanh of what is greater): own fits, by falling
// powers.
inline constexpr float kTanhNear = 1.0f;
inline constexpr float kTanhOver[] = {0.000226413147f, -0.00569185009f,
                                      1.19999278f, 3.00000072f};
inline constexpr float kPower[] = {0.000151867891f, 0.00133896107f,
                                   0.00961895566f,  0.0555036254f,
                                   0.240226448f,    0.693147182f};
inline constexpr float kTwoOfLn2 = 2.88539008f;

/// For a = |x|, a - a^3 / (...) near 0 and 1 - 2 / (e^2a + 1) beyond: what is
/// taken off is small beside what it is taken off, and so are its errors. NaN
/// goes all the way through.
HOTARU_INLINE float tanh(float x) {
  // From 10 on the result is 1.
  const float size = std::fabs(x), a = select(size > 10.0f, 10.0f, size);
  // The sum's last bits are n.
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = a * kTwoOfLn2 + kMagic;
  const float t = a * kTwoOfLn2 - (shifted - kMagic);
  float p = kPower[0], over = kTanhOver[0];
  for (int i = 1; i < 6; ++i) p = p * t + kPower[i];
  const float power =
      std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + 127) << 23);
  const float beyond = (p * t + 1.0f) * power + 1.0f;
  const float z = a * a;
  for (int i = 1; i < 4; ++i) over = over * z + kTanhOver[i];
  const bool near = a < kTanhNear;
  const float less = select(near, a * z, 2.0f) / select(near, over, beyond);
  return std::copysign(select(near, a, 1.0f) - less, x);
}

/// e^x - 1 = 2^n (e^r - 1) + (2^n - 1).
HOTARU_INLINE float expm1(float x) {
  // Below -25 the result is -1; above 88 it is exp's, which the halves of the
  // power of two take to infinity.
  const float below = select(x < 89.0f, x, 89.0f);
  const float c = select(below > -25.0f, below, -25.0f);
  const float n = round_small(c * 1.44269504088896341f);
  const float r = minus_ln2(c, n);
  const int32_t i = int32_t(n);
  const int32_t half = i >> 1;
  const float p = exp_minus_1_kernel(r);
  const float a = exp2i(half), b = exp2i(i - half);
  const float y =
      select(i > 24, (p * a + a) * b - 1.0f, p * a * b + (a * b - 1.0f));
  // NaN and, with its sign, zero
  return select(!(x < 0.0f || x > 0.0f), x, select(i == 0, p, y));
}

/// x^y of any numbers. Not inline: loops over other powers stay short.
[[gnu::noinline]] inline float pow_of_any(float x, float y) {
  float out;
  return pow_normal(x, y, out) ? out : std::pow(x, y);
}

/// log(1 + x): what rounding 1 + x lost is added to the mantissa.
HOTARU_INLINE float log1p(float x) {
  const float u = 1.0f + x;
  const float part = u - 1.0f;
  const float lost = (1.0f - (u - part)) + (x - part);
  const Split s = split(u);
  const float scale = exp2i(s.e > 126 ? -126 : -s.e);
  const float f = (s.m - 1.0f) + lost * scale;
  const float y = log_kernel(f, float(s.e));
  return select(x == 0.0f, x, log_at_edges(u, y));
}

/// sin and cos know float arguments up to here; for others they give some
/// number, and callers take the C library's (see formulas::Sin).
inline constexpr float kMostAngle = 1e6f;

/// sin(x + quarters pi/2) for |x| <= kMostAngle, within 2 units in the last
/// place. The multiple of pi/2 is taken off in double: n times the upper part
/// of pi/2 (33 bits) is exact, so angles near a multiple of pi keep their bits.
HOTARU_INLINE float sin_quarters(float x, int32_t quarters) {
  constexpr double kMagic = 0x1.8p52;
  const double angle = x;
  const double shifted = angle * 6.36619772367581382433e-01 + kMagic;
  const double n = shifted - kMagic;
  const double exact = angle - n * 1.57079632673412561417e+00;
  const auto r = float(exact - n * 6.07710050650619224932e-11);
  // The multiple is in the lowest bits of the sum; of NaN and larger angles
  // some number is.
  const auto q =
      uint32_t(std::bit_cast<uint64_t>(shifted)) + uint32_t(quarters);
  const float z = r * r;
  float s = -1.9515295891e-4f;
  s = s * z + 8.3321608736e-3f;
  s = s * z - 1.6666654611e-1f;
  s = s * z * r + r;
  float c = 2.443315711809948e-5f;
  c = c * z - 1.388731625493765e-3f;
  c = c * z + 4.166664568298827e-2f;
  c = c * z * z - 0.5f * z + 1.0f;
  const float y = select((q & 1) != 0, c, s);
  return select((q & 2) != 0, -y, y);
}
HOTARU_INLINE float sin(float x) {
  return select(x == 0.0f, x, sin_quarters(x, 0));  // -0 stays -0
}
HOTARU_INLINE float cos(float x) {
  return sin_quarters(x, 1);
}

/// The angle of (x, y), within 2 units in the last place. (atan(a) - a) / a^3
/// for 0 <= a <= 1 is a polynomial in a^2, minimax in atan's relative error
/// (own fit: 2.6e-9 before rounding).
HOTARU_INLINE float atan2(float y, float x) {
  const float ay = std::fabs(y), ax = std::fabs(x);
  const bool steep = ay > ax;
  const float low = select(steep, ax, ay), high = select(steep, ay, ax);
  const float ratio = select(low == high, 1.0f, low / high);
  const float a = select(low + high == 0.0f, 0.0f, ratio);
  const float z = a * a;
  float p = -1.7936223e-3f;
  p = p * z + 1.0914609e-2f;
  p = p * z - 3.1177850e-2f;
  p = p * z + 5.7957597e-2f;
  p = p * z - 8.4034510e-2f;
  p = p * z + 1.0952186e-1f;
  p = p * z - 1.4264242e-1f;
  p = p * z + 1.9998549e-1f;
  p = p * z - 3.3333299e-1f;
  float r = p * z * a + a;
  // pi / 2 and pi, each in two parts
  r = select(steep, (1.57079637f - r) - 4.37113883e-8f, r);
  const bool left = std::bit_cast<int32_t>(x) < 0;
  r = select(left, (3.14159274f - r) - 8.74227766e-8f, r);
  return std::copysign(r, y);
}
HOTARU_INLINE float atan(float x) {
  return atan2(x, 1.0f);
}

/// e^(x^2) erfc(x) for x >= 1: 1 / x times a polynomial in 1 / x^2.
HOTARU_INLINE float erfc_tail_factor(float x) {
  const float q = 1.0f / x;
  const float y = q * q;
  float near = 2.326819970068386e-2f;
  near = near * y - 1.387039388740657e-1f;
  near = near * y + 3.687424674597105e-1f;
  near = near * y - 5.824733027278666e-1f;
  near = near * y + 6.210004621745983e-1f;
  near = near * y - 4.944515323274145e-1f;
  near = near * y + 3.404879937665872e-1f;
  near = near * y - 2.741127028184656e-1f;
  near = near * y + 5.638259427386472e-1f;
  float far = -1.047766399936249e1f;
  far = far * y + 1.297719955372516e1f;
  far = far * y - 7.495518717768503f;
  far = far * y + 2.921019019210786f;
  far = far * y - 1.015265279202700f;
  far = far * y + 4.218463358204948e-1f;
  far = far * y - 2.820767439740514e-1f;
  far = far * y + 5.641895067754075e-1f;
  return q * select(x < 2.0f, near, far);
}
HOTARU_INLINE float erfc_tail(float x) {
  return exp(-x * x) * erfc_tail_factor(x);
}

HOTARU_INLINE float erf(float x) {
  const float a = std::fabs(x);
  const float z = x * x;
  float p = 7.853861353153693e-5f;
  p = p * z - 8.010193625184903e-4f;
  p = p * z + 5.188327685732524e-3f;
  p = p * z - 2.685381193529856e-2f;
  p = p * z + 1.128358514861418e-1f;
  p = p * z - 3.761262582423300e-1f;
  p = p * z + 1.128379165726710f;
  const float tail = 1.0f - erfc_tail(select(a < 1.0f, 1.0f, a));
  return select(a < 1.0f, p * x, select(x != x, x, std::copysign(tail, x)));
}

// (Phi(x) - 1/2) / x as a quotient of polynomials in x^2, minimax in the
// relative error for |x| < 5.5 (own fit: 1.7e-8 before rounding), by falling
// powers. At 5.5 it gives a half or more.
inline constexpr float kNormalEnd = 5.5f;
inline constexpr float kNormalP[] = {1.6418806e-08f,  4.511967e-06f,
                                     0.000117835574f, 0.0033304817f,
                                     0.023956716f,    0.28564438f};
inline constexpr float kNormalQ[] = {8.585095e-07f, 5.167193e-05f,
                                     0.0013322309f, 0.020346075f,
                                     0.17938444f,   0.7160043f};

/// The normal distribution up to x, Phi(x): within 2.4e-7, also relatively
/// where x > 0; 0 below -5.5 and 1 above 5.5; for NaN some number.
HOTARU_INLINE float normal_cdf(float x) {
  const float below = select(x < kNormalEnd, x, kNormalEnd);
  const float c = select(below > -kNormalEnd, below, -kNormalEnd);
  const float z = c * c;
  float p = kNormalP[0], q = kNormalQ[0];
  for (int i = 1; i < 6; ++i) {
    p = p * z + kNormalP[i];
    q = q * z + kNormalQ[i];
  }
  const float y = p * c / q;
  const float most = select(y < 0.5f, y, 0.5f);
  return 0.5f + select(most > -0.5f, most, -0.5f);
}
#endif  // __CUDACC__

// Everything else: the C library, for float, double and complex alike.
template <class T>
HOTARU_BOTH T exp(T x) {
  return lib::exp(x);
}
template <class T>
HOTARU_BOTH T log(T x) {
  return lib::log(x);
}
template <class T>
HOTARU_BOTH T log2(T x) {
  return std::log2(x);
}
template <class T>
HOTARU_BOTH T log10(T x) {
  return lib::log10(x);
}
template <class T>
HOTARU_BOTH T tanh(T x) {
  return lib::tanh(x);
}
template <class T>
HOTARU_BOTH T expm1(T x) {
  return std::expm1(x);
}
template <class T>
HOTARU_BOTH T log1p(T x) {
  return std::log1p(x);
}
template <class T>
HOTARU_BOTH T pow_of_any(T x, T y) {
  return lib::pow(x, y);
}
template <class T>
HOTARU_BOTH T erf(T x) {
  return std::erf(x);
}
template <class T>
HOTARU_BOTH T atan(T x) {
  return lib::atan(x);
}
template <class T>
HOTARU_BOTH T atan2(T y, T x) {
  return std::atan2(y, x);
}
template <class T>
HOTARU_BOTH T normal_cdf(T x) {
  return T(0.5) + T(0.5) * std::erf(x * T(0.70710678118654752440));
}
template <class T>
HOTARU_BOTH T sigmoid(T x) {
  return T(1) / (T(1) + lib::exp(-x));
}

}  // namespace hotaru::vmath
