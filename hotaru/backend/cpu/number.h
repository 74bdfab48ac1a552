// Comparisons of elements of any dtype.
#pragma once

#include <cmath>

#include "hotaru/core/dtype.h"

namespace hotaru::cpu {

template <class T>
bool is_nan(T x) {
  if constexpr (kIsReduced<T>)
    return std::isnan(float(x));
  else if constexpr (kIsFloating<T>)
    return std::isnan(x);
  else
    return false;
}

/// The element that stands for x in a result: a bool as 0 or 1.
template <class T>
T clean(T x) {
  if constexpr (kIsBool<T>)
    return T(bool(x));
  else
    return x;
}

/// Order of sorting: NaN is larger than every number and equal to NaN.
template <class T>
bool less(T a, T b) {
  return a < b || (is_nan(b) && !is_nan(a));
}
template <class T>
bool greater(T a, T b) {
  return a > b || (is_nan(a) && !is_nan(b));
}

}  // namespace hotaru::cpu
