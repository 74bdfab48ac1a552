// Exponentials, logarithms and angles of single precision for processors with
// fused multiply-adds: within 1.01 units in the last place, tan within 1.1 and,
// of angles above 100, 1.5. What rounding loses on the way is computed, by
// multiply-adds that are exact or by differences (T. J. Dekker, "A
// floating-point technique for extending the available precision", 1971), and
// added to the last sum.

#if defined(HOTARU_FUSED_ELEMENTARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_FUSED_ELEMENTARY_INL_H_
#undef HOTARU_FUSED_ELEMENTARY_INL_H_
#else
#define HOTARU_FUSED_ELEMENTARY_INL_H_
#endif

#include <bit>
#include <cmath>
#include <cstdint>

#include "hotaru/backend/common/pointwise/vector_functions.h"

#if HWY_NATIVE_FMA
HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE::fused {

HOTARU_INLINE float madd(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
template <size_t kCount>
HOTARU_INLINE float polynomial(const float (&c)[kCount], float x) {
  float y = c[0];
#pragma GCC unroll 16
  for (size_t i = 1; i < kCount; ++i) y = madd(y, x, c[i]);
  return y;
}

/// The greater one of floats that are not negative, as integers: compilers make
/// a branch of a comparison with a constant and compute all behind it twice.
HOTARU_INLINE float at_least(float x, float low) {
  const auto a = std::bit_cast<int32_t>(x), b = std::bit_cast<int32_t>(low);
  return std::bit_cast<float>(a < b ? b : a);
}

/// The less one of such floats, likewise; of NaN it is the bound.
HOTARU_INLINE float at_most(float x, float high) {
  const auto a = std::bit_cast<int32_t>(x), b = std::bit_cast<int32_t>(high);
  return std::bit_cast<float>(a < b ? a : b);
}

/// Adding it leaves an integer in the sum's last bits.
inline constexpr float kMagic = 0x1.8p23f;
/// ln(2) and 1 / ln(2), 1 / ln(10); `Rest` is what rounding lost, of ln(2) with
/// the other sign.
inline constexpr float kLn2 = 0x1.62e43p-1f, kLn2Rest = 1.90465430e-9f,
                       kOfLn2 = 1.44269502f, kOfLn2Rest = 1.92596303e-8f,
                       kOfLn10 = 0.434294492f, kOfLn10Rest = -1.00989044e-8f;

/// 2^(n + more) of n + kMagic.
HOTARU_INLINE float power_of(float shifted, uint32_t more = 0) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + (127 + more))
                              << 23);
}

/// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2, as vmath::exp_minus_1_kernel.
HOTARU_INLINE float exp_polynomial(float r) {
  float p = 1.9875691500e-4f;
  p = madd(p, r, 1.3981999507e-3f);
  p = madd(p, r, 8.3334519073e-3f);
  p = madd(p, r, 4.1665795894e-2f);
  p = madd(p, r, 1.6666665459e-1f);
  return madd(p, r, 5.0000001201e-1f);
}

/// Half of 2^n (e^r - 1) + (2^n - 1), so that the greatest results do not
/// overflow on the way.
HOTARU_INLINE float expm1(float x) {
  const float below = vmath::select(x < 89.0f, x, 89.0f);
  const float c = vmath::select(below > -25.0f, below, -25.0f);
  const float shifted = madd(c, kOfLn2, kMagic), n = shifted - kMagic;
  const float first = madd(n, -kLn2, c);  // exact
  const float low = n * kLn2Rest, r = first + low;
  const float part = madd(r * r, exp_polynomial(r), low);
  const float half = power_of(shifted, uint32_t(-1)), base = half - 0.5f;
  const float sum = madd(half, first, base);
  const float lost = madd(half, first, base - sum) + ((half - base) - 0.5f);
  const float y = sum + madd(half, part, lost);
  return std::fabs(x) > 0x1p-25f ? y + y : x;  // NaN, too
}

/// (log(1 + f) - f + f^2 / 2) / f^3, as in vmath::log_kernel.
HOTARU_INLINE float log_polynomial(float f) {
  float p = 7.0376836292e-2f;
  p = madd(p, f, -1.1514610310e-1f);
  p = madd(p, f, 1.1676998740e-1f);
  p = madd(p, f, -1.2420140846e-1f);
  p = madd(p, f, 1.4249322787e-1f);
  p = madd(p, f, -1.6668057665e-1f);
  p = madd(p, f, 2.0000714765e-1f);
  p = madd(p, f, -2.4999993993e-1f);
  return madd(p, f, 3.3333331174e-1f);
}

/// log(1 + x): what rounding 1 + x lost is added, over 1 + f.
HOTARU_INLINE float log1p(float x) {
  const float u = 1.0f + x, part = u - 1.0f;
  const float lost = (1.0f - (u - part)) + (x - part);
  const vmath::Split s = vmath::split(u);
  const float rest = lost * vmath::exp2i(s.e > 126 ? -126 : -s.e);
  const float f = s.m - 1.0f, n = float(s.e), z = f * f;
  float y = madd(n, -2.12194440e-4f, madd(-rest, madd(-f, f, f), rest));
  y = madd(-0.5f, z, madd(log_polynomial(f) * f, z, y));
  y = madd(n, 0.693359375f, f + y);
  return vmath::select(x == 0.0f, x, vmath::log_at_edges(u, y));
}

/// log(1 + f) - f.
HOTARU_INLINE float log_rest(float f) {
  const float z = f * f;
  return madd(log_polynomial(f) * f, z, -0.5f * z);
}

/// Exact for powers of two.
HOTARU_INLINE float log2(float x) {
  const vmath::LogParts s = vmath::log_parts(x);
  const float rest = madd(log_rest(s.f), kOfLn2, s.f * kOfLn2Rest);
  return vmath::log_at_edges(x, s.n + madd(s.f, kOfLn2, rest));
}

HOTARU_INLINE float log10(float x) {
  const vmath::LogParts s = vmath::log_parts(x);
  const float product = s.f * kOfLn10, whole = s.n * 0x1.344p-2f;
  const float sum = whole + product;
  float rest = (product - (sum - whole)) + madd(s.f, kOfLn10, -product);
  rest = madd(s.f, kOfLn10Rest, madd(s.n, 4.60503898119521374e-6f, rest));
  rest = madd(log_rest(s.f), kOfLn10, rest);
  return vmath::log_at_edges(x, sum + rest);
}

/// An angle less a multiple of pi/2, as r + low with |low| far below |r|.
struct QuarterTurn {
  float r, low;
  /// Its last two bits.
  uint32_t quarters;
};

/// The first product's rest is exact; what the second one's loses is known
/// where nothing cancels, and matters only there.
HOTARU_INLINE QuarterTurn quarter_turn(float angle) {
  const float shifted = madd(angle, 0.636619772f, kMagic);
  const float n = shifted - kMagic, first = madd(n, -1.57079637f, angle);
  const float r = madd(n, 4.37113883e-8f, first), d = first - r;
  const float cut = madd(n, 4.37113883e-8f, d);
  const float lost = std::fabs(d + d) <= std::fabs(r) ? cut : 0.0f;
  return {r, madd(n, 1.71512451e-15f, lost), std::bit_cast<uint32_t>(shifted)};
}

/// Angles whose multiple of pi/2 quarter_turn() finds: it is off by 0.004 at
/// most.
inline constexpr float kMostAngle = 1e5f;

// (tan(r) - r) / r^3 for |r| <= pi/4, of r^2 (1.3e-9).
inline constexpr float kTan[] = {0.0043924754f, 5.753108e-05f, 0.010860375f,
                                 0.021272985f,  0.054061644f,  0.13332649f,
                                 0.3333335f};

HOTARU_INLINE float tan(float x) {
  const QuarterTurn at = quarter_turn(x);
  const float r = at.r, z = r * r, of_r = polynomial(kTan, z) * r;
  // Where rounding z matters, the slope is about 1.4 of_r / r.
  const float cut = 1.375f * madd(r, r, -z);
  const float rest = madd(of_r, z, madd(of_r, cut, madd(at.low, z, at.low)));
  const float y = r + rest, low = (r - y) + rest;
  const float q = -1.0f / y;
  const float turned = madd(q, madd(q, low, madd(q, y, 1.0f)), q);
  return x == 0.0f ? x : (at.quarters & 1) != 0 ? turned : y;  // -0 stays -0
}

/// cos(a - pi/2) of a >= 0 with quarters 0, cos(a) with 1.
HOTARU_INLINE float sine(float a, uint32_t quarters) {
  const QuarterTurn at = quarter_turn(a);
  const float r = at.r, z = r * r;
  float s = -1.9515295891e-4f;
  s = madd(s, z, 8.3321608736e-3f);
  s = madd(s, z, -1.6666654611e-1f);
  s = r + madd(s * z, r, at.low);
  float c = 2.443315711809948e-5f;
  c = madd(c, z, -1.388731625493765e-3f);
  c = madd(c, z, 4.166664568298827e-2f);
  const float top = madd(-0.5f, z, 1.0f), cut = madd(-0.5f, z, 1.0f - top);
  c = top + madd(c * z, z, madd(-r, at.low, cut));
  const uint32_t q = at.quarters + quarters;
  const float y = (q & 1) != 0 ? c : s;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(y) ^ (q & 2) << 30);
}
HOTARU_INLINE float sin(float x) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(sine(std::fabs(x), 0)) ^
                              (std::bit_cast<uint32_t>(x) & 0x80000000u));
}
HOTARU_INLINE float cos(float x) {
  return sine(std::fabs(x), 1);
}

/// pi/2 and pi, and what rounding them lost, with the other sign.
inline constexpr float kQuarter = 1.57079637f, kQuarterRest = 4.37113883e-8f,
                       kHalfTurn = 3.14159274f, kHalfTurnRest = 8.74227766e-8f;

// As in vmath::atan2.
inline constexpr float kAtan[] = {
    -1.7936223e-3f, 1.0914609e-2f,  -3.1177850e-2f,
    5.7957597e-2f,  -8.4034510e-2f, 1.0952186e-1f,
    -1.4264242e-1f, 1.9998549e-1f,  -3.3333299e-1f};

/// Beyond 1, pi/2 less the angle of 1 / x, of which rounding lost about
/// lost / (1 + z).
HOTARU_INLINE float atan(float x) {
  const float size = std::fabs(x), inverse = 1.0f / size;
  const bool steep = size > 1.0f;
  const float a = steep ? inverse : size, z = a * a;
  const float lost = madd(-a, size, 1.0f) * a;
  const float top = kQuarter - a, cut = (kQuarter - top) - a;
  const float rest = (cut - kQuarterRest) - madd(-0.5f * z, lost, lost);
  const float more =
      madd(polynomial(kAtan, z) * z, steep ? -a : a, steep ? rest : 0.0f);
  const float y = (steep ? top : a) + more;
  return std::copysign(size > 0x1p26f ? kQuarter : y, x);
}

/// finish(s, rest, far) with asin(s) = s + rest, where s is |x| or, beyond 1/2,
/// sqrt((1 - |x|) / 2), whose rounding the rest makes good.
template <class Finish>
HOTARU_INLINE float with_arc(float x, const Finish& finish) {
  const float a = std::fabs(x), under = 0.5f * (1.0f - a);
  const bool far = a > 0.5f;
  const float z = far ? under : x * x;
  const float root = std::sqrt(z), s = far ? root : a;
  const float lost = madd(-s, s, z) / at_least(s + s, 0x1p-60f);
  float p = 4.2163199048e-2f;
  p = madd(p, z, 2.4181311049e-2f);
  p = madd(p, z, 4.5470025998e-2f);
  p = madd(p, z, 7.4953002686e-2f);
  p = madd(p, z, 1.6666752422e-1f);
  return finish(s, madd(p * z, s, far ? lost : 0.0f), far);
}
/// pi/2 - 2 asin(sqrt((1 - x) / 2)) from 1/2 on.
HOTARU_INLINE float asin(float x) {
  return with_arc(x, [x](float s, float rest, bool far) HOTARU_SIMD_LAMBDA {
    const float twice = s + s, top = kQuarter - twice;
    const float cut = (kQuarter - top) - twice;
    const float more = madd(-2.0f, rest, cut - kQuarterRest);
    return std::copysign((far ? top : s) + (far ? more : rest), x);
  });
}
HOTARU_INLINE float acos(float x) {
  return with_arc(x, [x](float s, float rest, bool far) HOTARU_SIMD_LAMBDA {
    const bool right = far & (x > 0.0f);
    const float base = far ? kHalfTurn : kQuarter;
    const float less = far ? kHalfTurnRest : kQuarterRest;
    const float scale = std::copysign(far ? 2.0f : 1.0f, far ? 1.0f : x);
    const float part = scale * s, of_rest = scale * rest;
    const float top = base - part, cut = (base - top) - part;
    return (right ? part : top) + (right ? of_rest : (cut - less) - of_rest);
  });
}

}  // namespace hotaru::cpu::HWY_NAMESPACE::fused
HWY_AFTER_NAMESPACE();
#endif  // HWY_NATIVE_FMA
#endif
