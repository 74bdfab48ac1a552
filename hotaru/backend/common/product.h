// Products of numbers of any kind.
#pragma once

#include "hotaru/backend/common/both.h"
#include "hotaru/core/dtype.h"

namespace hotaru {

/// a * b of floats or doubles, rounded: in CUDA's kernels no multiply-add is
/// made of it and a sum.
template <class R>
HOTARU_INLINE R rounded_product(R a, R b) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(R) == sizeof(float))
    return __fmul_rn(a, b);
  else
    return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// Of complex numbers by the formula: infinities are not looked at again, which
/// would be a call for each product. Where both of a part's products are
/// rounded alike, as here on a GPU and in sources compiled with
/// -ffp-contract=off, z * conj(z) is real and factors commute.
template <class A>
HOTARU_INLINE A product(const A& a, const A& b) {
  // Of two sums: GCC makes vfmaddsub of a difference beside a sum, whatever the
  // flags say.
  if constexpr (kIsComplex<A>)
    return A(rounded_product(a.real(), b.real()) +
                 rounded_product(-a.imag(), b.imag()),
             rounded_product(a.real(), b.imag()) +
                 rounded_product(a.imag(), b.real()));
  else
    return A(a * b);
}

}  // namespace hotaru
