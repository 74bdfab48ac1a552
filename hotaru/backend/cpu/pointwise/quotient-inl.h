// Quotients and what they leave, exactly and without branches, for most
// operands. A quotient that is rounded and then cut off is the true one or,
// where that is just below a whole number, one more; it never is less.

#if defined(HOTARU_QUOTIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_QUOTIENT_INL_H_
#undef HOTARU_QUOTIENT_INL_H_
#else
#define HOTARU_QUOTIENT_INL_H_
#endif

#include "hotaru/backend/common/pointwise/vector_functions.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

/// True if numbers of that type have a quotient here: floating ones by fused
/// products.
template <class T>
inline constexpr bool kHasQuotient = HWY_NATIVE_FMA &&
                                     (std::is_same_v<T, float> ||
                                      std::is_same_v<T, double>);

/// x - q y: of a whole q it is exact, as it has no more bits than y.
HOTARU_INLINE float left_by(float x, float y, float q) {
  return __builtin_fmaf(-q, y, x);
}
HOTARU_INLINE double left_by(double x, double y, double q) {
  return __builtin_fma(-q, y, x);
}

template <class T>
struct Quotient {
  T value, whole, rest;
  int64_t holds;  // as a bool GCC 12 returns 16 bytes that it cannot vectorise
};

/// Quotient of floats: cut off, and the rest with x's sign (C's fmod). Doubles
/// have up to 2^51, floats up to 2^22, so that also q - 1 is exact. Divisors of
/// 0 give NaN as rest; infinite ones are not for it.
template <class T>
requires kHasQuotient<T> HOTARU_INLINE Quotient<T> quotient(T x, T y) {
  constexpr T kMost = sizeof(T) == sizeof(float) ? T(0x1p22) : T(0x1p51);
  const T value = x / y, cut = std::trunc(value), r = left_by(x, y, cut);
  const bool more = bool((int(r < 0) & int(x > 0)) | (int(r > 0) & int(x < 0)));
  const T rest = r + (more ? std::copysign(y, x) : T(0));
  const T whole = cut - (more ? std::copysign(T(1), value) : T(0));
  const bool holds =
      bool((int(!(std::abs(value) >= kMost)) | int(y == 0)) &
           int(std::abs(y) != std::numeric_limits<T>::infinity()));
  return {value, whole, std::copysign(rest, x), holds};
}

// The last bits of the sum of this and of a whole number up to 2^51 are it.
inline constexpr double kWholeMagic = 0x1.8p52;

HOTARU_INLINE double as_double(int32_t x) {
  return x;
}
HOTARU_INLINE double as_double(int64_t x) {
  return std::bit_cast<double>(uint64_t(x) +
                               std::bit_cast<uint64_t>(kWholeMagic)) -
         kWholeMagic;
}
/// Whole number as an integer; wraps around.
template <class T>
HOTARU_INLINE T as_integer(double x) {
  return T(std::bit_cast<uint64_t>(x + kWholeMagic) -
           std::bit_cast<uint64_t>(kWholeMagic));
}

/// Quotient of integers, as doubles: no quotient of numbers below 2^50 is so
/// near to a whole number that rounding would make it that.
struct WholeQuotient {
  double x, y, value;
  bool holds;
};
template <class T>
requires(sizeof(T) >= sizeof(int32_t) &&
         std::is_integral_v<T>) HOTARU_INLINE WholeQuotient quotient(T x, T y) {
  const double a = as_double(x), b = as_double(y);
  bool holds = y != 0;
  if constexpr (sizeof(T) == sizeof(int64_t)) {
    constexpr uint64_t kMost = uint64_t{1} << 50;
    const uint64_t beyond = (uint64_t(x) + kMost) | (uint64_t(y) + kMost);
    holds = bool(int(holds) & int(beyond >> 51 == 0));
  }
  return {a, b, a / b, holds};
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
