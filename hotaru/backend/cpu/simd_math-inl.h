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

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

/// 1 / (1 + e^-x) within 2 units in the last place where it is normal and, for
/// double, x > -706; 0 where e^-x overflows.
template <class D, class V>
HWY_INLINE V simd_sigmoid(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  const V least = hn::Set(d, static_cast<T>(sizeof(T) == 4 ? -88.7 : -706.0));
  const V overflow = hn::Set(
      d, static_cast<T>(sizeof(T) == 4 ? -88.7228394 : -709.782712893384));
  const V y = hn::Exp(d, hn::Neg(hn::IfThenElse(hn::Lt(x, least), least, x)));
  V result = hn::Div(one, hn::Add(one, y));
  result = hn::IfThenZeroElse(hn::Lt(x, overflow), result);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// Within 2 units in the last place.
template <class D, class V>
HWY_INLINE V simd_tanh(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1)), two = hn::Set(d, T(2));
  const V size = hn::Abs(x);
  // Beyond this bound the result rounds to 1.
  const V bound = hn::Set(d, T(sizeof(T) == 4 ? 10 : 20));
  const V y = hn::Exp(
      d, hn::Mul(two, hn::IfThenElse(hn::Gt(size, bound), bound, size)));
  const V large = hn::Sub(one, hn::Div(two, hn::Add(y, one)));
  const V z = hn::Mul(x, x);
  V small;
  if constexpr (sizeof(T) == 4) {
    small = hn::Set(d, -5.70498872745e-3f);
    for (float c : {2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f,
                    -3.33332819422e-1f}) {
      small = hn::MulAdd(small, z, hn::Set(d, c));
    }
  } else {
    V p = hn::Set(d, -9.64399179425052238628e-1);
    p = hn::MulAdd(p, z, hn::Set(d, -9.92877231001918586564e1));
    p = hn::MulAdd(p, z, hn::Set(d, -1.61468768441708447952e3));
    V q = hn::Add(z, hn::Set(d, 1.12811678491632931402e2));
    q = hn::MulAdd(q, z, hn::Set(d, 2.23548839060100448583e3));
    q = hn::MulAdd(q, z, hn::Set(d, 4.84406305325125486048e3));
    small = hn::Div(p, q);
  }
  small = hn::MulAdd(hn::Mul(small, z), x, x);
  const V result = hn::IfThenElse(hn::Lt(size, hn::Set(d, T(0.625))), small,
                                  hn::CopySign(large, x));
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HOTARU_SIMD_MATH_INL_H
