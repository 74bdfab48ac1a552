// Products of numbers of any kind.
#pragma once

#include "hotaru/backend/common/both.h"
#include "hotaru/core/dtype.h"

namespace hotaru {

/// a * b of floats or doubles, rounded: no multiply-add is made of it and a
/// sum.
template <class R>
HOTARU_INLINE R rounded_product(R a, R b) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(R) == sizeof(float))
    return __fmul_rn(a, b);
  else
    return __dmul_rn(a, b);
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
  return __builtin_assoc_barrier(a * b);
#else
  return a * b;  // Clang makes multiply-adds within an expression alone
#endif
}

/// Of complex numbers by the formula: infinities are not looked at again, which
/// would be a call for each product. Each part's two products are rounded
/// alike, so that z * conj(z) is real and factors commute.
template <class A>
HOTARU_INLINE A product(const A& a, const A& b) {
  if constexpr (kIsComplex<A>)
    return A(rounded_product(a.real(), b.real()) -
                 rounded_product(a.imag(), b.imag()),
             rounded_product(a.real(), b.imag()) +
                 rounded_product(a.imag(), b.real()));
  else
    return A(a * b);
}

}  // namespace hotaru
