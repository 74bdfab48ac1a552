// Functions of single precision for processors with fused multiply-adds, in the
// place of those of vector_math.h and vector_functions.h, which the others
// take: erf within 1 unit in the last place, erfc within 1.4. Polynomials are
// own minimax fits, by falling powers; beside each stands its error before
// rounding.

#if defined(HOTARU_FUSED_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_FUSED_MATH_INL_H_
#undef HOTARU_FUSED_MATH_INL_H_
#else
#define HOTARU_FUSED_MATH_INL_H_
#endif

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "hotaru/backend/common/pointwise/activation.h"
#include "hotaru/backend/common/pointwise/math.h"
#include "hotaru/backend/cpu/pointwise/fused_elementary-inl.h"

#if HWY_NATIVE_FMA
HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE::fused {

/// vmath::normal_cdf.
HOTARU_INLINE float normal_cdf(float x) {
  const float a = at_most(std::fabs(x), vmath::kNormalEnd), z = a * a;
  const float y =
      polynomial(vmath::kNormalP, z) * a / polynomial(vmath::kNormalQ, z);
  return 0.5f + std::copysign(at_most(y, 0.5f), x);
}

// erf(x) / x - 1 for |x| <= 1, of x^2 (1.2e-9).
inline constexpr float kErfNear[] = {
    7.8538609e-05f, -0.000801019349f, 0.00518832767f, -0.0268538119f,
    0.112835851f,   -0.376126258f,    0.12837917f};
// (log(erfc(x)) - log(erfc(1))) / (x - 1) for 1 <= x <= 4, of x - 1 (1.1e-9 in
// erf).
inline constexpr float kErfcLog[] = {0.00018770892f, -0.0018349163f,
                                     0.009903787f,   -0.041509107f,
                                     -0.8431159f,    -2.638967f};

/// Beyond 1 from erfc: that falls from 0.16, so its last bits do not matter.
HOTARU_INLINE float erf(float x) {
  const float a = std::fabs(x), c = a > 4.0f ? 4.0f : a;
  const float near = madd(polynomial(kErfNear, x * x), x, x);
  // log(erfc(1)), and what rounding it lost
  constexpr float kLog = -1.8496056f, kLogRest = 5.03694861e-8f;
  const float t = c - 1.0f, q = polynomial(kErfcLog, t);
  const float shifted = madd(madd(q, t, kLog), kOfLn2, kMagic);
  const float n = shifted - kMagic;
  const float r =
      madd(q, t, madd(n, -kLn2, kLog) + madd(n, kLn2Rest, kLogRest));
  const float p = madd(exp_polynomial(r) * r, r, r), power = power_of(shifted);
  const float far = std::copysign(madd(-p, power, 1.0f - power), x);
  return a < 1.0f ? near : x != x ? x : far;
}

/// (f + rest) e^(-s - lost) for 0 <= s <= 104, where rest and lost are what
/// rounding f and s cut off. f is smaller by 2^64, so that no power of two is
/// below normal ones.
HOTARU_INLINE float times_exp(float f, float rest, float s, float lost) {
  const float shifted = madd(s, -kOfLn2, kMagic), n = shifted - kMagic;
  const float first = madd(n, -0.693359375f, -s);  // exact
  const float low = madd(n, 2.12194440e-4f, -lost), r = first + low;
  const float part = madd(exp_polynomial(r) * r, r, low);
  const float more = madd(f, first, madd(f, part, rest));
  // The sum's last bits are n.
  const uint32_t power = (std::bit_cast<uint32_t>(shifted) + (127 + 64)) << 23;
  return (f + more) * std::bit_cast<float>(power);
}

// erf(x) / x - 1 for |x| <= 3/4, of x^2 (1.1e-9 in erfc).
inline constexpr float kErfcNear[] = {-0.000655554426f, 0.00508383376f,
                                      -0.0268170816f,   0.112829317f,
                                      -0.37612572f,     0.128379151f};
// e^(x^2) erfc(x) / t for 0.75 <= x <= 10.1 and t = 1 / (1 + x), of t less the
// middle (3.3e-9), times 2^-64: what stands before the constant term, and that.
inline constexpr float kErfcMiddle = 0.30078125f;
inline constexpr float kErfcTail[] = {
    -2.58729243f * 0x1p-64f,  1.86526525f * 0x1p-64f,  0.481976479f * 0x1p-64f,
    -1.20531344f * 0x1p-64f,  0.419955343f * 0x1p-64f, 0.469854325f * 0x1p-64f,
    -0.507464647f * 0x1p-64f, -0.20083192f * 0x1p-64f, 0.599564672f * 0x1p-64f};
inline constexpr float kErfcCentre = 0.746899724f * 0x1p-64f;

HOTARU_INLINE float erfc(float x) {
  constexpr float kFar = 0.75f, kEnd = 10.1f;
  const float size = std::fabs(x), a = at_least(size, kFar);
  const float top = 1.0f - x, below = (1.0f - top) - x;
  const float near = top + madd(-polynomial(kErfcNear, x * x), x, below);
  const float square = a * a, d = 1.0f + a, t = 1.0f / d;
  // Parts that rounding cut off, of the square and, relatively, of t; the tail
  // changes by 1 to 1.25 times as much as t does.
  const float of_t = madd(-t, a - (d - 1.0f), madd(-t, d, 1.0f));
  const float lost = madd(-1.1f, of_t, madd(a, a, -square));
  const float u = t - kErfcMiddle, q = polynomial(kErfcTail, u);
  const float factor = madd(q, u, kErfcCentre), f = t * factor;
  const float cut = madd(q, u, kErfcCentre - factor);
  const float rest = madd(t, cut, madd(t, factor, -f));
  const float tail = times_exp(f, rest, square, lost);
  const float right = size < kEnd ? tail : 0.0f;
  const float far = x < 0.0f ? 2.0f - right : right;
  return size >= kFar ? far : near;  // near is NaN of NaN
}

#if HWY_TARGET == HWY_AVX3
// (log(1 + f) - f + f^2/2) / f^3 for 3/4 <= 1 + f < 3/2 (1e-8 in the result).
inline constexpr float kLog[] = {-0.0450748056f, 0.104630224f, -0.131611928f,
                                 0.144783944f,   -0.16647312f, 0.199908614f,
                                 -0.250000954f,  0.333334506f};

/// finish(f, f^2, y, e) for x = (1 + f) 2^e, log(1 + f) = f - f^2 / 2 + y.
/// Processors split numbers themselves, and with factors of e that are positive
/// zero, infinity and NaN come out right.
template <class Finish>
HOTARU_INLINE __m512 log_parts(__m512 x, const Finish& finish) {
  const auto set = [](float v) HOTARU_SIMD_LAMBDA { return _mm512_set1_ps(v); };
  const __m512 one = set(1.0f);
  const __m512 m =
      _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
  __m512 e = _mm512_getexp_ps(x);
  e = _mm512_mask_add_ps(e, _mm512_cmp_ps_mask(m, one, _CMP_LT_OQ), e, one);
  const __m512 f = _mm512_sub_ps(m, one), z = _mm512_mul_ps(f, f);
  __m512 p = set(kLog[0]);
#pragma GCC unroll 8
  for (size_t i = 1; i < std::size(kLog); ++i)
    p = _mm512_fmadd_ps(p, f, set(kLog[i]));
  return finish(f, z, _mm512_mul_ps(_mm512_mul_ps(p, f), z), e);
}

HOTARU_INLINE __m512 log(__m512 x) {
  const auto set = [](float v) HOTARU_SIMD_LAMBDA { return _mm512_set1_ps(v); };
  return log_parts(
      x, [&](__m512 f, __m512 z, __m512 y, __m512 e) HOTARU_SIMD_LAMBDA {
        y = _mm512_fmadd_ps(e, set(0x1.7f7d1cp-20f), y);
        y = _mm512_add_ps(f, _mm512_fmadd_ps(set(-0.5f), z, y));
        return _mm512_fmadd_ps(e, set(0x1.62e4p-1f), y);
      });
}

/// As those of floats.
HOTARU_INLINE __m512 log10(__m512 x) {
  const auto set = [](float v) HOTARU_SIMD_LAMBDA { return _mm512_set1_ps(v); };
  return log_parts(
      x, [&](__m512 f, __m512 z, __m512 y, __m512 e) HOTARU_SIMD_LAMBDA {
        const __m512 ten = set(kOfLn10);
        const __m512 product = _mm512_mul_ps(f, ten);
        const __m512 whole = _mm512_mul_ps(e, set(0x1.344p-2f));
        const __m512 sum = _mm512_add_ps(whole, product);
        __m512 rest = _mm512_sub_ps(product, _mm512_sub_ps(sum, whole));
        rest = _mm512_add_ps(rest, _mm512_fmsub_ps(f, ten, product));
        rest = _mm512_fmadd_ps(e, set(4.60503898119521374e-6f), rest);
        rest = _mm512_fmadd_ps(f, set(kOfLn10Rest), rest);
        y = _mm512_fmadd_ps(set(-0.5f), z, y);
        rest = _mm512_fmadd_ps(y, ten, rest);
        // Infinite logarithms have a rest of NaN.
        const __mmask16 finite =
            _mm512_cmp_ps_mask(_mm512_abs_ps(e), set(1000.0f), _CMP_LE_OQ);
        return _mm512_mask_add_ps(sum, finite, sum, rest);
      });
}
HOTARU_INLINE __m512 log2(__m512 x) {
  const auto set = [](float v) HOTARU_SIMD_LAMBDA { return _mm512_set1_ps(v); };
  return log_parts(
      x, [&](__m512 f, __m512 z, __m512 y, __m512 e) HOTARU_SIMD_LAMBDA {
        const __m512 two = set(kOfLn2), product = _mm512_mul_ps(f, two);
        const __m512 sum = _mm512_add_ps(e, product);
        __m512 rest = _mm512_sub_ps(product, _mm512_sub_ps(sum, e));
        rest = _mm512_add_ps(rest, _mm512_fmsub_ps(f, two, product));
        rest = _mm512_fmadd_ps(f, set(kOfLn2Rest), rest);
        y = _mm512_fmadd_ps(set(-0.5f), z, y);
        rest = _mm512_fmadd_ps(y, two, rest);
        const __mmask16 finite =
            _mm512_cmp_ps_mask(_mm512_abs_ps(e), set(1000.0f), _CMP_LE_OQ);
        return _mm512_mask_add_ps(sum, finite, sum, rest);
      });
}

/// vmath::exp's polynomial; processors scale by powers of two themselves, past
/// both ends of the range.
HOTARU_INLINE __m512 exp(__m512 x) {
  const auto set = [](float v) HOTARU_SIMD_LAMBDA { return _mm512_set1_ps(v); };
  // The second operand where one is NaN.
  x = _mm512_min_ps(set(100.0f), _mm512_max_ps(set(-120.0f), x));
  const __m512 n = _mm512_roundscale_ps(
      _mm512_mul_ps(x, set(1.44269504088896341f)), _MM_FROUND_TO_NEAREST_INT);
  __m512 r = _mm512_fnmadd_ps(n, set(0.693359375f), x);
  r = _mm512_fmadd_ps(n, set(2.12194440e-4f), r);
  __m512 p = set(1.9875691500e-4f);
  for (const float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                        1.6666665459e-1f, 5.0000001201e-1f})
    p = _mm512_fmadd_ps(p, r, set(c));
  p = _mm512_fmadd_ps(_mm512_mul_ps(p, r), r, r);
  return _mm512_scalef_ps(_mm512_add_ps(p, set(1.0f)), n);
}

/// The root as the instruction has it (all floats were compared), of which wide
/// vectors take three times as long: an estimate of 1 / root(x) within 2^-14,
/// one step of Goldschmidt's (P. Markstein, "Software division and square root
/// using Goldschmidt's algorithms", 2004) and one by the remainder, which a
/// multiply-add has exactly. Not where that would leave the range.
HOTARU_INLINE __m512 sqrt(__m512 x) {
  const auto set = [](float v) HOTARU_SIMD_LAMBDA { return _mm512_set1_ps(v); };
  const __mmask16 plain = _mm512_cmp_ps_mask(x, set(0x1p-96f), _CMP_GE_OQ) &
                          _mm512_cmp_ps_mask(x, set(0x1p126f), _CMP_LE_OQ);
  if (plain != 0xffff) [[unlikely]]
    return _mm512_sqrt_ps(x);
  const __m512 r = _mm512_rsqrt14_ps(x);
  __m512 y = _mm512_mul_ps(x, r), half = _mm512_mul_ps(r, set(0.5f));
  const __m512 rest = _mm512_fnmadd_ps(y, half, set(0.5f));
  y = _mm512_fmadd_ps(y, rest, y);
  half = _mm512_fmadd_ps(half, rest, half);
  return _mm512_fmadd_ps(_mm512_fnmadd_ps(y, y, x), half, y);
}

/// f of n floats, in the place of a loop over elements.
template <class F>
HOTARU_INLINE void run_vectors(float* out, const float* x, int64_t n,
                               const F& f) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(out + i, f(_mm512_loadu_ps(x + i)));
  const auto rest = static_cast<__mmask16>((1u << (n - i)) - 1);
  _mm512_mask_storeu_ps(out + i, rest, f(_mm512_maskz_loadu_ps(rest, x + i)));
}
#endif

// --- formulas, in the place of those of math.h -------------------------------

/// Other types keep the list's formula, and its code.
#define HOTARU_FUSED(Name) \
  template <class T> \
  using Name = std::conditional_t<std::is_same_v<T, float>, Name##OfFloat, \
                                  formulas::Name<T>>
#define HOTARU_FUSED_FORMULA(Name, expression) \
  struct Name##OfFloat { \
    HOTARU_INLINE float operator()(float x) const { return expression; } \
  }; \
  HOTARU_FUSED(Name)
HOTARU_FUSED_FORMULA(Erf, fused::erf(x));
HOTARU_FUSED_FORMULA(Erfc, fused::erfc(x));
HOTARU_FUSED_FORMULA(Gelu, x* fused::normal_cdf(x));
HOTARU_FUSED_FORMULA(Expm1, fused::expm1(x));
HOTARU_FUSED_FORMULA(Log1p, fused::log1p(x));
HOTARU_FUSED_FORMULA(Atan, fused::atan(x));
HOTARU_FUSED_FORMULA(Asin, fused::asin(x));
HOTARU_FUSED_FORMULA(Acos, fused::acos(x));
#if HWY_TARGET != HWY_AVX3
HOTARU_FUSED_FORMULA(Log2, fused::log2(x));
HOTARU_FUSED_FORMULA(Log10, fused::log10(x));
#endif
#undef HOTARU_FUSED_FORMULA

struct GeluGradOfFloat {
  explicit GeluGradOfFloat(const PointwiseNumbers&) {}
  HOTARU_INLINE float operator()(float g, float x) const {
    constexpr float kRoot =
        float(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return g * (fused::normal_cdf(x) + x * kRoot * vmath::exp(-0.5f * x * x));
  }
};
HOTARU_FUSED(GeluGrad);

struct EluOfFloat : formulas::Elu<float> {
  using formulas::Elu<float>::Elu;
  HOTARU_INLINE float operator()(float x) const {
    return x <= 0.0f ? fused::expm1(x * c) * (a * b) : x * b;
  }
};
HOTARU_FUSED(Elu);

#define HOTARU_FUSED_ANGLE_FORMULA(Name, function, most) \
  struct Name##OfFloat { \
    HOTARU_INLINE float operator()(float x) const { \
      return holds(x) ? quick(x) : formulas::Name<float>()(x); \
    } \
    HOTARU_INLINE static bool holds(float x) { return std::fabs(x) <= most; } \
    HOTARU_INLINE static float quick(float x) { return fused::function(x); } \
  }; \
  HOTARU_FUSED(Name)
HOTARU_FUSED_ANGLE_FORMULA(Sin, sin, kMostAngle);
HOTARU_FUSED_ANGLE_FORMULA(Cos, cos, kMostAngle);
HOTARU_FUSED_ANGLE_FORMULA(Tan, tan, kMostAngle);
#undef HOTARU_FUSED_ANGLE_FORMULA

#if HWY_TARGET == HWY_AVX3
#define HOTARU_FUSED_VECTORS(Name, function) \
  struct Name##OfFloat : formulas::Name<float> { \
    static void run(float* out, const float* x, int64_t n) { \
      run_vectors(out, x, n, [](__m512 v) HOTARU_SIMD_LAMBDA { \
        return fused::function(v); \
      }); \
    } \
  }; \
  HOTARU_FUSED(Name)
HOTARU_FUSED_VECTORS(Sqrt, sqrt);
HOTARU_FUSED_VECTORS(Exp, exp);
HOTARU_FUSED_VECTORS(Log, log);
HOTARU_FUSED_VECTORS(Log2, log2);
HOTARU_FUSED_VECTORS(Log10, log10);
#undef HOTARU_FUSED_VECTORS
#endif
#undef HOTARU_FUSED

}  // namespace hotaru::cpu::HWY_NAMESPACE::fused
HWY_AFTER_NAMESPACE();
#endif  // HWY_NATIVE_FMA
#endif
