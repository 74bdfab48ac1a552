// Values of one dtype as values of another.
#pragma once

#include <cstdint>
#include <limits>
#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#define HOTARU_SSE_CONVERTS
#endif

#include "hotaru/backend/common/both.h"
#include "hotaru/core/dtype.h"

namespace hotaru::formulas {

/// hotaru::truncated() in the instruction that gives just that, where there is
/// one.
template <class T>
HOTARU_BOTH int64_t whole_64(T x) {
#ifdef HOTARU_SSE_CONVERTS
  if constexpr (std::is_same_v<T, double>)
    return _mm_cvttsd_si64(_mm_set_sd(x));
  else
    return _mm_cvttss_si64(_mm_set_ss(float(x)));
#else
  const auto v = static_cast<OpMath<T>>(x);
  return v >= -0x1p63f && v < 0x1p63f ? int64_t(v)
                                      : std::numeric_limits<int64_t>::min();
#endif
}
#undef HOTARU_SSE_CONVERTS

/// A floating number as an integer of at most 32 bits: the smallest int32
/// where that cannot hold it, of which To takes the low bits.
template <class To, class T>
HOTARU_BOTH To whole_32(T x) {
  const auto v = static_cast<OpMath<T>>(x);
  const bool fits = v >= -0x1p31f && v < 0x1p31f;
  return static_cast<To>(fits ? int32_t(v)
                              : std::numeric_limits<int32_t>::min());
}

template <class To, class From>
HOTARU_BOTH To convert(From x) {
  if constexpr (kIsBool<To> || std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (kIsComplex<To>) {
    using R = typename To::value_type;
    if constexpr (kIsComplex<From>)
      return To(R(x.real()), R(x.imag()));
    else
      return To(R(x), R(0));
  } else if constexpr (kIsComplex<From>) {
    return convert<To>(x.real());
  } else if constexpr (kIsReduced<To>) {
    return To(float(x));
  } else if constexpr (std::is_integral_v<To> && kIsFloating<From>) {
    // As PyTorch on x86; bytes without sign wrap.
    if constexpr (sizeof(To) <= 4 && !std::is_same_v<To, uint8_t>)
      return whole_32<To>(x);
    else
      return static_cast<To>(whole_64(x));
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace hotaru::formulas
