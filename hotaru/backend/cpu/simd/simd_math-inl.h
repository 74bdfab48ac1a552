// Mathematical functions of SIMD vectors of float and double, for inclusion
// after simd.h in files that use its pattern. d is the vector's tag.
//
// NaN gives NaN. The small-argument approximations of tanh are those of the
// Cephes library (S. Moshier).

// clang-format off
#if defined(HOTARU_SIMD_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_SIMD_MATH_INL_H
#undef HOTARU_SIMD_MATH_INL_H
#else
#define HOTARU_SIMD_MATH_INL_H
#endif
// clang-format on

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <numbers>
#include <type_traits>

#include "hotaru/backend/common/pointwise/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

/// vmath::minus_ln2.
template <class D, class V>
HWY_INLINE V simd_minus_ln2(D d, V x, V n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V r = hn::MulAdd(n, hn::Set(d, -0.693359375f), x);
  return hn::MulAdd(n, hn::Set(d, 2.12194440e-4f), r);
}

/// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2, as in vmath::exp_minus_1_kernel.
template <class D, class V>
HWY_INLINE V simd_exp_polynomial(D d, V r) {
  namespace hn = hwy::HWY_NAMESPACE;
  V p = hn::Set(d, 1.9875691500e-4f);
  for (const float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                        1.6666665459e-1f, 5.0000001201e-1f})
    p = hn::MulAdd(p, r, hn::Set(d, c));
  return p;
}

/// 1 / (1 + e^-x), where e^-x = 2^(n - 1) (2 + 2 (e^r - 1)). NaN goes all the
/// way through.
template <class D, class V>
HWY_INLINE V simd_sigmoid_float(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1.0f), magic = hn::Set(d, 0x1.8p23f);
  const V low = hn::Set(d, -89.0f), high = hn::Set(d, 87.0f);
  // Not Min and Max, which may drop NaN.
  V c = hn::IfThenElse(hn::Lt(x, low), low, x);
  c = hn::Neg(hn::IfThenElse(hn::Gt(c, high), high, c));
  const V shifted = hn::MulAdd(c, hn::Set(d, 1.44269504088896341f), magic);
  const V r = simd_minus_ln2(d, c, hn::Sub(shifted, magic));
  const V p = hn::MulAdd(hn::Mul(simd_exp_polynomial(d, r), r), r, r);
  const hn::RebindToUnsigned<D> bits;
  const V power =
      hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::BitCast(bits, shifted),
                                               hn::Set(bits, 126u))));
  const V two = hn::Set(d, 2.0f);
  return hn::Div(one, hn::MulAdd(hn::MulAdd(p, two, two), power, one));
}

/// 1 / (1 + e^-x) within 2 units in the last place where it is normal and, for
/// double, x > -706; 0 where e^-x overflows.
template <class D, class V>
HWY_INLINE V simd_sigmoid(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return simd_sigmoid_float(d, x);
  } else {
    const V one = hn::Set(d, 1.0), least = hn::Set(d, -706.0);
    const V overflow = hn::Set(d, -709.782712893384);
    const V y = hn::Exp(d, hn::Neg(hn::IfThenElse(hn::Lt(x, least), least, x)));
    V result = hn::Div(one, hn::Add(one, y));
    result = hn::IfThenZeroElse(hn::Lt(x, overflow), result);
    return hn::IfThenElse(hn::IsNaN(x), x, result);
  }
}

/// vmath::tanh.
template <class D, class V>
HWY_INLINE V simd_tanh_float(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1.0f), magic = hn::Set(d, 0x1.8p23f);
  const V size = hn::Abs(x), bound = hn::Set(d, 10.0f);
  const V a = hn::IfThenElse(hn::Gt(size, bound), bound, size);
  const V c = hn::Add(a, a);
  const V shifted = hn::MulAdd(c, hn::Set(d, 1.44269504088896341f), magic);
  const V n = hn::Sub(shifted, magic);
  const V r = simd_minus_ln2(d, c, n);
  const V p = hn::MulAdd(hn::Mul(simd_exp_polynomial(d, r), r), r, r);
  const hn::RebindToUnsigned<D> bits;
  const V power =
      hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::BitCast(bits, shifted),
                                               hn::Set(bits, 127u))));
  const V y = hn::MulAdd(p, power, hn::Sub(power, one));
  return hn::CopySign(hn::Div(y, hn::Add(y, hn::Set(d, 2.0f))), x);
}

/// Within 3 units in the last place.
template <class D, class V>
HWY_INLINE V simd_tanh(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 4) {
    return simd_tanh_float(d, x);
  } else {
    const V one = hn::Set(d, T(1)), two = hn::Set(d, T(2));
    const V size = hn::Abs(x);
    // Beyond this bound the result rounds to 1.
    const V bound = hn::Set(d, T(20));
    const V y = hn::Exp(
        d, hn::Mul(two, hn::IfThenElse(hn::Gt(size, bound), bound, size)));
    const V large = hn::Sub(one, hn::Div(two, hn::Add(y, one)));
    const V z = hn::Mul(x, x);
    V p = hn::Set(d, -9.64399179425052238628e-1);
    p = hn::MulAdd(p, z, hn::Set(d, -9.92877231001918586564e1));
    p = hn::MulAdd(p, z, hn::Set(d, -1.61468768441708447952e3));
    V q = hn::Add(z, hn::Set(d, 1.12811678491632931402e2));
    q = hn::MulAdd(q, z, hn::Set(d, 2.23548839060100448583e3));
    q = hn::MulAdd(q, z, hn::Set(d, 4.84406305325125486048e3));
    const V small = hn::MulAdd(hn::Mul(hn::Div(p, q), z), x, x);
    const V result = hn::IfThenElse(hn::Lt(size, hn::Set(d, T(0.625))), small,
                                    hn::CopySign(large, x));
    return hn::IfThenElse(hn::IsNaN(x), x, result);
  }
}

/// The normal distribution up to x, see vmath::normal_cdf.
template <class D, class V>
HWY_INLINE V simd_normal_cdf(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  using T = hn::TFromD<D>;
  const V half = hn::Set(d, T(0.5));
  if constexpr (sizeof(T) == 4) {
    const V end = hn::Set(d, vmath::kNormalEnd);
    const V c = hn::Max(hn::Min(x, end), hn::Neg(end));
    const V z = hn::Mul(c, c);
    V p = hn::Set(d, vmath::kNormalP[0]), q = hn::Set(d, vmath::kNormalQ[0]);
    for (int i = 1; i < 6; ++i) {
      p = hn::MulAdd(p, z, hn::Set(d, vmath::kNormalP[i]));
      q = hn::MulAdd(q, z, hn::Set(d, vmath::kNormalQ[i]));
    }
    const V y = hn::Div(hn::Mul(p, c), q);
    return hn::Add(half, hn::Max(hn::Min(y, half), hn::Neg(half)));
  } else {
    // The C library's, lane by lane.
    HWY_ALIGN T lanes[hn::MaxLanes(D())];
    hn::Store(hn::Mul(x, hn::Set(d, std::numbers::sqrt2 / 2)), d, lanes);
    for (T& lane : lanes) lane = std::erf(lane);
    return hn::MulAdd(half, hn::Load(d, lanes), half);
  }
}

/// Hendrycks and Gimpel's approximation (arXiv:1606.08415).
template <class D, class V>
HWY_INLINE V simd_gelu_tanh(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  using T = hn::TFromD<D>;
  const V cube = hn::Mul(hn::Mul(hn::Set(d, T(0.044715)), x), hn::Mul(x, x));
  const V t = simd_tanh(
      d, hn::Mul(hn::Set(d, T(0.79788456080286535588)), hn::Add(x, cube)));
  const V half = hn::Mul(x, hn::Set(d, T(0.5)));
  return hn::MulAdd(half, t, half);
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HOTARU_SIMD_MATH_INL_H
