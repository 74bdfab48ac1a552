// Products of numbers of any kind.
#pragma once

#include "hotaru/backend/common/both.h"
#include "hotaru/core/dtype.h"

namespace hotaru {

/// Of complex numbers by the formula: infinities are not looked at again, which
/// would be a call for each product.
template <class A>
HOTARU_INLINE A product(const A& a, const A& b) {
  if constexpr (kIsComplex<A>)
    return A(a.real() * b.real() - a.imag() * b.imag(),
             a.real() * b.imag() + a.imag() * b.real());
  else
    return A(a * b);
}

}  // namespace hotaru
