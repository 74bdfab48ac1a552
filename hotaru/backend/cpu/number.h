// Comparisons of elements of any dtype.
#pragma once

#include <cmath>
#include <limits>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

/// hotaru::truncated() in the instruction that gives just that, where there is
/// one.
template <class T>
int64_t truncated(T x) {
#ifdef __SSE2__
  if constexpr (std::is_same_v<T, double>)
    return _mm_cvttsd_si64(_mm_set_sd(x));
  else
    return _mm_cvttss_si64(_mm_set_ss(float(x)));
#else
  return hotaru::truncated(x);
#endif
}

/// A floating number as an integer of at most 32 bits: the smallest int32
/// where that cannot hold it, of which To takes the low bits.
template <class To, class T>
To truncated_to(T x) {
  const auto v = static_cast<OpMath<T>>(x);
  const bool fits = v >= -0x1p31f && v < 0x1p31f;
  return static_cast<To>(fits ? static_cast<int32_t>(v)
                              : std::numeric_limits<int32_t>::min());
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
