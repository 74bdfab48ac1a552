// Numbers in dense linear algebra, which may be complex.
#pragma once

#include <cmath>
#include <complex>

#include "hotaru/backend/common/both.h"
#include "hotaru/backend/common/product.h"

namespace hotaru {

template <class T>
using Real = decltype(std::abs(T()));

template <class T>
HOTARU_BOTH T conjugate(T x) {
  if constexpr (kIsComplex<T>)
    return T(x.real(), -x.imag());
  else
    return x;
}

/// |re| + |im|, by which LAPACK chooses pivots.
template <class T>
HOTARU_BOTH Real<T> magnitude(T x) {
  if constexpr (kIsComplex<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

}  // namespace hotaru
