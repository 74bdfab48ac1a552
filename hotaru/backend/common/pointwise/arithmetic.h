// Formulas of two and three operands: arithmetic, limits, selection.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/common/pointwise/vector_functions.h"
#include "hotaru/backend/common/product.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::formulas {

template <class T>
inline constexpr bool kIsInteger = std::is_integral_v<T>;

template <class T, bool kWraps = kIsInteger<T> && !std::is_same_v<T, bool>>
struct WrappingType {
  using type = T;
};
template <class T>
struct WrappingType<T, true> {
  using type = std::common_type_t<unsigned, std::make_unsigned_t<T>>;
};
/// The type to add and multiply in: integers wrap around as unsigned ones do.
template <class T>
using Wrapping = typename WrappingType<T>::type;

template <class T>
HOTARU_INLINE T negated(T x) {
  if constexpr (kIsInteger<T>)
    return T(Wrapping<T>(0) - Wrapping<T>(x));
  else
    return -x;
}

template <class T>
HOTARU_INLINE bool is_nan(T x) {
  if constexpr (kIsComplex<T>)
    return std::isnan(x.real()) || std::isnan(x.imag());
  else if constexpr (kIsInteger<T>)
    return false;
  else
    return x != x;
}

template <class T>
struct Add {
  T alpha;
  explicit Add(const PointwiseNumbers& n) : alpha(n.a.to<T>()) {}
  HOTARU_INLINE T operator()(T x, T y) const {
    using W = Wrapping<T>;
    return T(W(x) + product(W(alpha), W(y)));
  }
};

template <class T>
struct Mul {
  HOTARU_INLINE T operator()(T x, T y) const {
    return T(rounded_product(Wrapping<T>(x), Wrapping<T>(y)));
  }
};

/// x / y in double, where nothing overflows, into `out`; false where that is
/// not finite. Zeros have the signs that Smith's method gives them (R. Smith,
/// "Algorithm 116: Complex division", 1962), as those of complex doubles have,
/// in PyTorch, too: those of (s + t q / p) / p and (t - s q / p) / p, where p
/// is the greater part of y.
HOTARU_INLINE bool quick_quotient(std::complex<float> x, std::complex<float> y,
                                  std::complex<float>& out) {
  const double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  const double square = c * c + d * d;
  const auto re = float((a * c + b * d) / square);
  const auto im = float((b * c - a * d) / square);
  const bool first = std::fabs(y.real()) >= std::fabs(y.imag());
  const float p = first ? y.real() : y.imag();
  const float s = first ? x.real() : x.imag();
  const float t = first ? x.imag() : x.real();
  const float zero = 0.0f * y.real() * y.imag();
  const float of_t = t * 0.0f, of_s = s * zero;
  const float re_zero = (s * 0.0f + t * zero) * p;
  const float im_zero = (first ? of_t - of_s : of_s - of_t) * p;
  out = {re == 0 ? re_zero : re, im == 0 ? im_zero : im};
  return re - re == im - im;
}

/// x / y. The signs of a complex zero do not count, as in PyTorch and NumPy.
template <class T>
HOTARU_INLINE T divide(T x, T y) {
  if constexpr (kIsComplex<T>) {
    using R = typename T::value_type;
    if (y == T(0)) [[unlikely]]
      return {x.real() / R(0), x.imag() / R(0)};
  }
  if constexpr (std::is_same_v<T, std::complex<float>> && vmath::kQuick) {
    T out;
    if (quick_quotient(x, y, out)) return out;
    return T(std::complex<double>(x) / std::complex<double>(y));
  }
  return x / y;
}

template <class T>
struct Div {
  HOTARU_INLINE T operator()(T x, T y) const { return divide(x, y); }
  /// The others (C99, annex G) are those whose result is not finite.
  HOTARU_INLINE static bool quick(
      T x, T y, T& out) requires std::is_same_v<T, std::complex<float>> {
    return quick_quotient(x, y, out);
  }
};

/// Answer of kernels to a division of integers by zero: they throw, as in
/// PyTorch. Those of devices cannot: there all bits of quotient and remainder
/// are set, which is what NVIDIA's hardware gives.
#ifdef HOTARU_DEVICE_CODE
#define HOTARU_DIVIDE_BY(y) \
  if (y == 0) return T(-1)
#else
#define HOTARU_DIVIDE_BY(y) HOTARU_CHECK(y != 0, "ZeroDivisionError")
#endif

/// min / -1 wraps to min.
template <class T>
HOTARU_BOTH T checked_divide(T x, T y) {
  HOTARU_DIVIDE_BY(y);
  if constexpr (std::is_signed_v<T>)
    if (y == T(-1)) return T(0 - static_cast<std::make_unsigned_t<T>>(x));
  return T(x / y);
}

template <class T>
struct DivTrunc {
  HOTARU_BOTH T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>)
      return checked_divide(x, y);
    else
      return std::trunc(x / y);
  }
};

/// Tells whether a remainder lacks the divisor's sign; without branches, as
/// signs are hard to guess.
template <class T>
HOTARU_BOTH bool is_on_other_side(T remainder, T y) {
  return bool(int(remainder != 0) & (int(remainder < 0) ^ int(y < 0)));
}

/// Rounds towards minus infinity. Floating values follow Python's //: the
/// quotient is made from the remainder, so that x == y * q + r holds.
template <class T>
struct DivFloor {
  HOTARU_BOTH T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>) {
      const T q = checked_divide(x, y);
#ifdef HOTARU_DEVICE_CODE
      if (y == 0) return T(q - (x < 0));
#endif
      return T(q - (x % (y == T(-1) ? T(1) : y) != 0 && (x < 0) != (y < 0)));
    } else {
      if (y == 0) [[unlikely]]
        return x / y;
      const T r = vmath::fmod(x, y);
      const T quotient = (x - r) / y;
      const T q = quotient - T(int(is_on_other_side(r, y)));
      const T whole = vmath::floor(q);
      const T nearest = q - whole > T(0.5) ? whole + 1 : whole;
      return vmath::blend(q == 0, std::copysign(T(0), x / y), nearest);
    }
  }
};

/// The result has the divisor's sign.
template <class T>
struct Remainder {
  HOTARU_BOTH T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>) {
      HOTARU_DIVIDE_BY(y);
      if (std::is_signed_v<T> && y == T(-1)) return 0;
      const T r = T(x % y);
      return r != 0 && (r < 0) != (y < 0) ? T(r + y) : r;
    } else {
      const T r = vmath::fmod(x, y), moved = r + y;
      return vmath::blend(is_on_other_side(r, y), moved, r);
    }
  }
};

/// The result has the dividend's sign.
template <class T>
struct Fmod {
  HOTARU_BOTH T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>) {
      HOTARU_DIVIDE_BY(y);
      return std::is_signed_v<T> && y == T(-1) ? T(0) : T(x % y);
    } else {
      return vmath::fmod(x, y);
    }
  }
};

template <class T>
struct Pow {
  HOTARU_BOTH T operator()(T x, T y) const {
    if constexpr (!kIsInteger<T>) {
      return vmath::pow_of_any(x, y);
    } else {
      if constexpr (std::is_signed_v<T>)
        if (y < 0) return x == 1 ? T(1) : x == -1 ? T(y % 2 ? -1 : 1) : T(0);
      using U = Wrapping<T>;
      U result = 1, base = U(x);
      for (U n = U(y); n; n >>= 1) {
        if (n & 1) result *= base;
        base *= base;
      }
      return T(result);
    }
  }
#ifndef __CUDACC__
  HOTARU_INLINE static bool quick(T x, T y,
                                  T& out) requires(std::is_same_v<T, float>) {
    return vmath::pow_normal(x, y, out);
  }
#endif
};

/// A tensor to a fixed power: the common ones without the library's pow.
template <class T>
struct PowScalar {
  T exponent;
  double real = std::numeric_limits<double>::quiet_NaN();
  explicit PowScalar(const PointwiseNumbers& n) : exponent(n.a.to<T>()) {
    const std::complex<double> given = n.a.to_complex();
    if (given.imag() == 0) real = given.real();
  }
  HOTARU_INLINE T operator()(T x) const {
    const auto w = Wrapping<T>(x);
    if constexpr (kIsComplex<T>) {  // also of infinite ones
      if (real == 0) return T(1);
      if (real == 1) return x;
    }
    if (real == 2) return T(w * w);
    if (real == 3) return T(w * w * w);
    if constexpr (!kIsInteger<T>) {
      if (real == 0.5) return lib::sqrt(x);
      if (real == -1) return divide(T(1), x);
      if (real == -2) return divide(T(1), T(x * x));
    }
    return Pow<T>{}(x, exponent);
  }
#ifndef __CUDACC__
  /// Tells whether the quick form is worth while for this exponent.
  bool is_quick() const {
    return real != 2 && real != 3 && real != 0.5 && real != -1 && real != -2;
  }
  HOTARU_INLINE bool holds(float x) const requires(std::is_same_v<T, float>) {
    float out;
    return vmath::pow_normal(x, exponent, out);
  }
  HOTARU_INLINE float quick(float x) const requires(std::is_same_v<T, float>) {
    float out;
    vmath::pow_normal(x, exponent, out);
    return out;
  }
#endif
};

/// A NaN on either side wins.
template <class T>
struct Maximum {
  HOTARU_INLINE T operator()(T x, T y) const {
    const T greater = x > y ? x : y;
    return x != x ? x : greater;
  }
};
template <class T>
struct Minimum {
  HOTARU_INLINE T operator()(T x, T y) const {
    const T less = x < y ? x : y;
    return x != x ? x : less;
  }
};
/// The number wins over a NaN.
template <class T>
struct Fmax {
  HOTARU_BOTH T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>)
      return x > y ? x : y;
    else
      return std::fmax(x, y);
  }
};
template <class T>
struct Fmin {
  HOTARU_BOTH T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>)
      return x < y ? x : y;
    else
      return std::fmin(x, y);
  }
};

template <class T>
struct Atan2 {
  HOTARU_INLINE T operator()(T x, T y) const { return vmath::atan2(x, y); }
};
template <class T>
struct Hypot {
  HOTARU_INLINE T operator()(T x, T y) const { return vmath::hypot(x, y); }
};
template <class T>
struct Copysign {
  HOTARU_BOTH T operator()(T x, T y) const { return std::copysign(x, y); }
};
/// x log y, and 0 where x is 0.
template <class T>
struct Xlogy {
  HOTARU_BOTH T operator()(T x, T y) const {
    if (y != y) return y;
    return x == 0 ? T(0) : x * std::log(y);
  }
};
/// Equal ones may be infinite.
template <class T>
struct Logaddexp {
  HOTARU_INLINE T operator()(T x, T y) const {
    const T sum = vmath::log_add_exp(x, y);
    return x == y ? x + T(0.69314718055994530942) : sum;
  }
};
template <class T>
struct Logaddexp2 {
  HOTARU_INLINE T operator()(T x, T y) const {
    const T sum = vmath::log_add_exp2(x, y);
    return x == y ? x + T(1) : sum;
  }
};
/// x 2^n for any real n: 2^n alone may overflow, or vanish. Rounded once where
/// n is whole.
template <class T>
struct Ldexp {
  HOTARU_INLINE T operator()(T x, T n) const {
    constexpr bool kWide = sizeof(T) == 8;
    constexpr T kMost = kWide ? 2200 : 300;  // beyond, any x is infinite or 0
    constexpr T kUp = kWide ? 1023 : 127, kLeast = 1 - kUp;
    constexpr T kDown = kWide ? -969 : -102;  // leaves T's digits above kLeast
    const T m = n < -kMost ? -kMost : n > kMost ? kMost : n;  // or NaN
    T rest = std::trunc(m);
    T y = vmath::times_exp2(x, m - rest);
    for (int i = 0; i < 2; ++i) {
      const T step = rest < kLeast ? kDown : rest > kUp ? kUp : T(0);
      y *= power(step);
      rest -= step;
    }
    return y * power(rest);
  }
  /// 2^e, of an integer whose power is normal.
  HOTARU_INLINE static double power(double e) {
    const double exponent = e + (0x1p52 + 1023);
    return std::bit_cast<double>(std::bit_cast<uint64_t>(exponent) << 52);
  }
  HOTARU_INLINE static float power(float e) {
    const float exponent = e + (0x1p23f + 127);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(exponent) << 23);
  }
};
template <class T>
struct Nextafter {
  HOTARU_INLINE T operator()(T x, T y) const { return vmath::nextafter(x, y); }
};
template <class T>
struct MakeComplex {
  HOTARU_INLINE std::complex<T> operator()(T re, T im) const {
    return {re, im};
  }
};

/// Losses of two numbers whose difference is d: d^2, and m (|d| - m / 2) with m
/// = min(|d|, delta), a parabola that goes on as a line.
template <class T>
struct SquaredDifference {
  HOTARU_INLINE T operator()(T x, T y) const { return (x - y) * (x - y); }
};
template <class T>
struct Huber {
  T delta;
  explicit Huber(const PointwiseNumbers& n) : delta(n.a.to<T>()) {}
  HOTARU_INLINE T operator()(T x, T y) const {
    const T d = std::abs(x - y), m = d < delta ? d : delta;
    return m * (d - T(0.5) * m);
  }
};

/// Euclid's algorithm of a >= b.
template <class U>
HOTARU_BOTH U common_divisor(U a, U b) {
  while (b) a = std::exchange(b, U(a % b));
  return a;
}

/// The greatest common divisor; not negative but for the smallest number, which
/// wraps around.
template <class T>
struct Gcd {
  HOTARU_BOTH T operator()(T x, T y) const {
    using U = std::make_unsigned_t<T>;
    const U a = x < 0 ? U(0 - U(x)) : U(x), b = y < 0 ? U(0 - U(y)) : U(y);
    const U high = a < b ? b : a, low = a < b ? a : b;
    // Divisions of fewer bits take less time.
    if (sizeof(U) > sizeof(uint32_t) && high <= uint32_t(-1))
      return T(common_divisor(uint32_t(high), uint32_t(low)));
    return T(common_divisor(high, low));
  }
};

/// Limits; a NaN stays, a NaN limit wins.
template <class T>
struct Clamp {
  T low, high;
  explicit Clamp(const PointwiseNumbers& n)
      : low(n.a.to<T>()), high(n.b.to<T>()) {}
  HOTARU_INLINE T operator()(T x) const {
    const T y = x < low ? low : x;
    return y > high ? high : y;
  }
};
template <class T>
struct ClampMin {
  T low;
  explicit ClampMin(const PointwiseNumbers& n) : low(n.a.to<T>()) {}
  HOTARU_INLINE T operator()(T x) const { return x < low ? low : x; }
};
template <class T>
struct ClampMax {
  T high;
  explicit ClampMax(const PointwiseNumbers& n) : high(n.a.to<T>()) {}
  HOTARU_INLINE T operator()(T x) const { return x > high ? high : x; }
};

/// Both branches are exact at their ends.
template <class T>
struct Lerp {
  HOTARU_INLINE T operator()(T x, T y, T w) const {
    if constexpr (kIsComplex<T>)
      return lib::abs(w) < 0.5 ? x + w * (y - x) : y - (y - x) * (T(1) - w);
    else
      return (w < 0 ? -w : w) < T(0.5) ? x + w * (y - x)
                                       : y - (y - x) * (T(1) - w);
  }
};
template <class T>
struct Addcmul {
  T value;
  explicit Addcmul(const PointwiseNumbers& n) : value(n.a.to<T>()) {}
  HOTARU_INLINE T operator()(T x, T a, T b) const {
    using W = Wrapping<T>;
    return T(W(x) + W(value) * W(a) * W(b));
  }
};
template <class T>
struct Addcdiv {
  T value;
  explicit Addcdiv(const PointwiseNumbers& n) : value(n.a.to<T>()) {}
  HOTARU_INLINE T operator()(T x, T a, T b) const { return x + value * a / b; }
};

#undef HOTARU_DIVIDE_BY

}  // namespace hotaru::formulas
