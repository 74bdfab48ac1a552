// Products of numbers of any kind.
#pragma once

#include "hotaru/backend/common/both.h"
#include "hotaru/core/dtype.h"

namespace hotaru {

/// Product, of complex numbers by the formula: infinities are not looked at
/// again, which would be a call for each product.
template <class A>
HOTARU_INLINE A product(const A& a, const A& b) {
  if constexpr (kIsComplex<A>)
    return A(a.real() * b.real() - a.imag() * b.imag(),
             a.real() * b.imag() + a.imag() * b.real());
  else
    return A(a * b);
}

/// a * b of floats or doubles: in CUDA's kernels no multiply-add is made of it
/// and a sum.
template <class R>
HOTARU_INLINE R rounded(R a, R b) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(R) == sizeof(float))
    return __fmul_rn(a, b);
  else
    return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// As product(), with both of a part's products rounded alike where the source
/// is compiled with -ffp-contract=off: z * conj(z) is real, factors commute.
/// Of two sums: GCC makes vfmaddsub of a difference beside a sum, whatever the
/// flags say.
template <class A>
HOTARU_INLINE A rounded_product(const A& a, const A& b) {
  if constexpr (kIsComplex<A>)
    return A(rounded(a.real(), b.real()) + rounded(-a.imag(), b.imag()),
             rounded(a.real(), b.imag()) + rounded(a.imag(), b.real()));
  else
    return A(a * b);
}

}  // namespace hotaru
