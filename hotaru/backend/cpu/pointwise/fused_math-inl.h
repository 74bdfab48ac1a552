// Elementary functions of single precision for processors with fused
// multiply-adds: within 3 units in the last place, as those of vector_math.h
// and vector_functions.h, which the others take. Polynomials are own minimax
// fits, by falling powers; beside each stands its error before rounding.

#if defined(HOTARU_FUSED_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_FUSED_MATH_INL_H_
#undef HOTARU_FUSED_MATH_INL_H_
#else
#define HOTARU_FUSED_MATH_INL_H_
#endif

#include <bit>
#include <cmath>
#include <cstdint>

#include "hotaru/backend/common/pointwise/math.h"

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

// erf(x) / x - 1 for |x| <= 1, of x^2 (1.2e-9).
inline constexpr float kErfNear[] = {
    7.8538609e-05f, -0.000801019349f, 0.00518832767f, -0.0268538119f,
    0.112835851f,   -0.376126258f,    0.12837917f};
// The eighth root of erfc(x) for 1 <= x <= 4, of x - 2 (4e-9 in erfc).
inline constexpr float kErfcRoot[] = {
    1.57842227e-05f, 0.000179450652f, -0.000670792353f, -0.00280679482f,
    0.0172066935f,   0.0189397358f,   -0.282426916f,    0.511392567f};

/// Beyond 1 from erfc: that falls from 0.16, so its last bits do not matter.
HOTARU_INLINE float erf(float x) {
  const float a = std::fabs(x), c = a > 4.0f ? 4.0f : a;
  const float near = madd(polynomial(kErfNear, x * x), x, x);
  float root = polynomial(kErfcRoot, c - 2.0f);
  root *= root;
  root *= root;
  const float far = std::copysign(madd(-root, root, 1.0f), x);
  return a < 1.0f ? near : x != x ? x : far;
}

/// f e^(-s - lost) for 0 <= s <= 104, where lost is what rounding s cut off. f
/// is smaller by 2^64, so that no power of two is below normal ones.
HOTARU_INLINE float times_exp(float f, float s, float lost) {
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = madd(s, -1.44269504f, kMagic), n = shifted - kMagic;
  const float r = madd(n, 2.12194440e-4f, madd(n, -0.693359375f, -s)) - lost;
  float p = 1.9875691500e-4f;
  p = madd(p, r, 1.3981999507e-3f);
  p = madd(p, r, 8.3334519073e-3f);
  p = madd(p, r, 4.1665795894e-2f);
  p = madd(p, r, 1.6666665459e-1f);
  p = madd(p, r, 5.0000001201e-1f);
  p = madd(p * r, r, r);
  // The sum's last bits are n.
  const uint32_t power = (std::bit_cast<uint32_t>(shifted) + (127 + 64)) << 23;
  return madd(f, p, f) * std::bit_cast<float>(power);
}

// erf(x) / x - 1 for |x| <= 3/4, of x^2 (1.1e-9 in erfc).
inline constexpr float kErfcNear[] = {-0.000655554426f, 0.00508383376f,
                                      -0.0268170816f,   0.112829317f,
                                      -0.37612572f,     0.128379151f};
// e^(x^2) erfc(x) / t for 0.75 <= x <= 10.1 and t = 1 / (1 + x), of t - 3/8
// (2.5e-9), times 2^-64.
inline constexpr float kErfcTail[] = {
    -2.63886526f * 0x1p-64f,   0.106228035f * 0x1p-64f,
    1.0753984f * 0x1p-64f,     -0.754015865f * 0x1p-64f,
    -0.0280057758f * 0x1p-64f, 0.536188659f * 0x1p-64f,
    -0.353992909f * 0x1p-64f,  -0.297094209f * 0x1p-64f,
    0.562184228f * 0x1p-64f,   0.79009994f * 0x1p-64f};

HOTARU_INLINE float erfc(float x) {
  constexpr float kFar = 0.75f, kEnd = 10.1f;
  const float size = std::fabs(x), a = at_least(size, kFar);
  const float near = madd(-polynomial(kErfcNear, x * x), x, 1.0f - x);
  const float square = a * a, d = 1.0f + a, t = 1.0f / d;
  // What rounding cut off: of the square, and of t relatively; the tail changes
  // by 1 to 1.25 times as much as t does.
  const float of_t = madd(-t, a - (d - 1.0f), madd(-t, d, 1.0f));
  const float lost = madd(-1.1f, of_t, madd(a, a, -square));
  const float tail =
      times_exp(t * polynomial(kErfcTail, t - 0.375f), square, lost);
  const float right = size < kEnd ? tail : 0.0f;
  const float far = x < 0.0f ? 2.0f - right : right;
  return size >= kFar ? far : near;  // near is NaN of NaN
}

/// Angles whose multiple of pi/2 tan() finds: it is off by 0.004 at most.
inline constexpr float kMostTan = 1e5f;

/// The angle less a multiple of pi/2, in two parts: the first product's rest is
/// exact, and what the second one's loses matters only where nothing cancels.
/// Then Cephes' polynomial.
HOTARU_INLINE float tan(float x) {
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = madd(x, 0.636619772f, kMagic), n = shifted - kMagic;
  const float first = madd(n, -1.57079637f, x);
  const float r = madd(n, 4.37113883e-8f, first), d = first - r;
  const float cut = madd(n, 4.37113883e-8f, d);
  const float lost = std::fabs(d + d) <= std::fabs(r) ? cut : 0.0f;
  const float low = madd(n, 1.71512451e-15f, lost);
  const float z = r * r;
  float p = 9.38540185543e-3f;
  p = madd(p, z, 3.11992232697e-3f);
  p = madd(p, z, 2.44301354525e-2f);
  p = madd(p, z, 5.34112807005e-2f);
  p = madd(p, z, 1.33387994085e-1f);
  p = madd(p, z, 3.33331568548e-1f);
  const float y = r + madd(p * z, r, madd(low, z, low));
  const bool odd = (std::bit_cast<uint32_t>(shifted) & 1) != 0;
  return x == 0.0f ? x : odd ? -1.0f / y : y;  // -0 stays -0
}

// --- formulas, in the place of those of math.h -------------------------------

#define HOTARU_FUSED_FORMULA(Name, function) \
  template <class T> \
  struct Name : formulas::Name<T> { \
    HOTARU_INLINE T operator()(T x) const { \
      if constexpr (std::is_same_v<T, float>) \
        return fused::function(x); \
      else \
        return formulas::Name<T>::operator()(x); \
    } \
  }
HOTARU_FUSED_FORMULA(Erf, erf);
HOTARU_FUSED_FORMULA(Erfc, erfc);
#undef HOTARU_FUSED_FORMULA

template <class T>
struct Tan : formulas::Tan<T> {
  HOTARU_INLINE T operator()(T x) const {
    if constexpr (std::is_same_v<T, float>)
      if (holds(x)) return quick(x);
    return formulas::Tan<T>::operator()(x);
  }
  HOTARU_INLINE static bool holds(float x) { return std::fabs(x) <= kMostTan; }
  HOTARU_INLINE static float quick(float x) { return fused::tan(x); }
};

}  // namespace hotaru::cpu::HWY_NAMESPACE::fused
HWY_AFTER_NAMESPACE();
#endif  // HWY_NATIVE_FMA
#endif
