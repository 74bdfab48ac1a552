// Mathematical functions of SIMD vectors of float and double, for inclusion
// after simd.h in files that use its pattern. d is the vector's tag.
//
// NaN gives NaN. The small-argument approximation of tanh for double is that of
// the Cephes library (S. Moshier). Figures are those of fused multiply-adds.

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

/// vmath::sigmoid.
template <class D, class V>
HWY_INLINE V simd_sigmoid_float(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V magic = hn::Set(d, 0x1.8p23f), of_one = hn::Set(d, 0.5f);
  const V low = hn::Set(d, -89.0f), high = hn::Set(d, 87.0f);
  // Not Min and Max, which may drop NaN.
  V c = hn::IfThenElse(hn::Gt(x, high), high, x);
  c = hn::Neg(hn::IfThenElse(hn::Lt(c, low), low, c));
  const V shifted = hn::MulAdd(c, hn::Set(d, 1.44269504088896341f), magic);
  const V r = simd_minus_ln2(d, c, hn::Sub(shifted, magic));
  const V p = hn::MulAdd(hn::Mul(simd_exp_polynomial(d, r), r), r, r);
  const hn::RebindToUnsigned<D> bits;
  const V half =
      hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::BitCast(bits, shifted),
                                               hn::Set(bits, 126u))));
  const V sum = hn::Add(half, of_one),
          lost = hn::Sub(of_one, hn::Sub(sum, half));
  return hn::Div(hn::IfThenZeroElse(hn::Lt(x, low), of_one),
                 hn::Add(hn::MulAdd(p, half, lost), sum));
}

/// 1 / (1 + e^-x) within 1.7 units in the last place where it is normal and,
/// for double, x > -706; 0 where e^-x overflows.
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
  const V scale = hn::Set(d, vmath::kTwoOfLn2);
  const V shifted = hn::MulAdd(a, scale, magic);
  const V t = hn::MulSub(a, scale, hn::Sub(shifted, magic));
  V p = hn::Set(d, vmath::kPower[0]), over = hn::Set(d, vmath::kTanhOver[0]);
  for (int i = 1; i < 6; ++i)
    p = hn::MulAdd(p, t, hn::Set(d, vmath::kPower[i]));
  const hn::RebindToUnsigned<D> bits;
  const V power =
      hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::BitCast(bits, shifted),
                                               hn::Set(bits, 127u))));
  const V beyond = hn::MulAdd(hn::MulAdd(p, t, one), power, one);
  const V z = hn::Mul(a, a);
  for (int i = 1; i < 4; ++i)
    over = hn::MulAdd(over, z, hn::Set(d, vmath::kTanhOver[i]));
  const auto near = hn::Lt(a, hn::Set(d, vmath::kTanhNear));
  const V less = hn::Div(hn::IfThenElse(near, hn::Mul(a, z), hn::Set(d, 2.0f)),
                         hn::IfThenElse(near, over, beyond));
  return hn::CopySign(hn::Sub(hn::IfThenElse(near, a, one), less), x);
}

/// Within 1.1 units in the last place, for double 3.
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

/// Hendrycks and Gimpel's approximation, see formulas::GeluTanh.
template <class D, class V>
HWY_INLINE V simd_gelu_tanh(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  using T = hn::TFromD<D>;
  const V slope =
      hn::MulAdd(hn::Mul(x, x), hn::Set(d, T(0.044715 * vmath::kGeluTanh)),
                 hn::Set(d, T(vmath::kGeluTanh)));
  return hn::Mul(x, simd_sigmoid(d, hn::Mul(x, slope)));
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HOTARU_SIMD_MATH_INL_H
