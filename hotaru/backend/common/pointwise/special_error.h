// The error function's relatives and the normal distribution.
#pragma once

#include <cmath>
#include <numbers>

#include "hotaru/backend/common/pointwise/special.h"

namespace hotaru::special {

using std::numbers::inv_sqrtpi;
using std::numbers::sqrt2;

namespace detail {

/// erfinv to seven digits, where w = -log((1 - x)(1 + x)): M. Giles,
/// "Approximating the erfinv function", GPU Computing Gems 2 (2010).
HOTARU_BOTH inline double erfinv_guess(double x, double w) {
  constexpr double kCentral[] = {
      2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
      -4.39150654e-06, 0.00021858087,  -0.00125372503,
      -0.00417768164,  0.246640727,    1.50140941};
  constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                              -0.00367342844,  0.00573950773,  -0.0076224613,
                              0.00943887047,   1.00167406,     2.83297682};
  const bool central = w < 5;
  const double t = central ? w - 2.5 : std::sqrt(w) - 3;
  double p = 0;
  for (int i = 0; i < 9; ++i) p = p * t + (central ? kCentral[i] : kTail[i]);
  return p * x;
}

HOTARU_BOTH inline double slope_of_erf(double y) {
  return 2 * inv_sqrtpi * std::exp(-y * y);
}

/// The y with erf(y) = x, |x| <= 1 / 2, by Newton's steps, each of which
/// doubles the digits.
HOTARU_BOTH inline double erfinv_near_zero(double x) {
  double y = erfinv_guess(x, -std::log1p(-x * x));
  for (int step = 0; step < 2; ++step) y -= (std::erf(y) - x) / slope_of_erf(y);
  return y;
}

/// The y >= 0 with erfc(y) = q, 0 < q <= 1. In logarithms, as erfc's tail is
/// flat; not near 1, where the last place of erfc(y) is all of a small y.
HOTARU_BOTH inline double erfcinv(double q) {
  if (q >= 0.5) return erfinv_near_zero(1 - q);
  double y = q > 1e-6 ? erfinv_guess(1 - q, -std::log(q * (2 - q)))
                      : std::sqrt(-std::log(q));
  for (int step = 0; step < (q > 1e-6 ? 2 : 6); ++step) {
    const double value = std::erfc(y);
    y += std::log(value / q) * value / slope_of_erf(y);
  }
  return y;
}

}  // namespace detail

HOTARU_BOTH double erfinv(double x) {
  const double size = std::abs(x);
  if (!(size <= 1)) return detail::kNaN;
  if (size == 1) return std::copysign(detail::kInf, x);
  if (size > 0.5) return std::copysign(detail::erfcinv(1 - size), x);
  return detail::erfinv_near_zero(x);
}

/// exp(x^2) erfc(x); the asymptotic series where erfc underflows.
HOTARU_BOTH double erfcx(double x) {
  if (x < 25) {
    const double square = x * x;
    const double rest = std::fma(x, x, -square);
    if (x < -26.7) return detail::kInf;
    return std::exp(square) * std::exp(rest) * std::erfc(x);
  }
  if (std::isnan(x)) return x;
  const double t = 1 / (2 * x * x);
  return inv_sqrtpi / x * (1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t))));
}

HOTARU_BOTH double entr(double x) {
  if (std::isnan(x)) return x;
  if (x == 0) return 0;
  return x < 0 ? -detail::kInf : -x * std::log(x);
}

HOTARU_BOTH double ndtr(double x) {
  return 0.5 * std::erfc(-x / sqrt2);
}

HOTARU_BOTH double log_ndtr(double x) {
  const double t = x / sqrt2;
  if (x < -1) return std::log(erfcx(-t) / 2) - t * t;
  return std::log1p(-std::erfc(t) / 2);
}

HOTARU_BOTH double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return detail::kNaN;
  if (p == 0 || p == 1) return p == 0 ? -detail::kInf : detail::kInf;
  return p < 0.5 ? -sqrt2 * detail::erfcinv(2 * p) : sqrt2 * erfinv(2 * p - 1);
}

HOTARU_BOTH double xlog1py(double x, double y) {
  if (std::isnan(y)) return y;
  return x == 0 ? 0 : x * std::log1p(y);
}

HOTARU_BOTH double frexp_mantissa(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent);
}
HOTARU_BOTH double frexp_exponent(double x) {
  int exponent = 0;
  if (std::isfinite(x)) (void)std::frexp(x, &exponent);
  return exponent;
}

}  // namespace hotaru::special
