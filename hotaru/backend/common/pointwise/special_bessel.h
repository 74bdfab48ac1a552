// Bessel's functions of orders 0 and 1, and Airy's.
#pragma once

#include <cmath>
#include <numbers>

#include "hotaru/backend/common/pointwise/bessel_series.h"
#include "hotaru/backend/common/pointwise/special.h"

namespace hotaru::special {

namespace detail {

/// exp(-|x|) I(x), |x| at least kFar.
HOTARU_BOTH inline double scaled_i_far(int order, double x) {
  return asymptotic(order, x, -1) / std::sqrt(2 * pi * x);
}

/// The power series, all of whose terms are positive (9.6.10).
HOTARU_BOTH inline double i_near(int order, double x) {
  const double square = x * x / 4;
  double term = order ? x / 2 : 1, sum = term;
  for (int k = 1; sum + term != sum; ++k)
    sum += term *= square / (double(k) * (k + order));
  return sum;
}

HOTARU_BOTH inline double i(int order, double x, bool scaled) {
  const double size = std::abs(x);
  if (std::isnan(x)) return x;
  double value = 0;
  if (size < kFar)
    value = i_near(order, size) * (scaled ? std::exp(-size) : 1);
  else if (std::isinf(size))
    value = scaled ? 0 : kNaN;  // as PyTorch has it
  else  // the exponential in two halves, as it alone may overflow
    value = scaled_i_far(order, size) *
            (scaled ? 1 : std::exp(size / 2) * std::exp(size / 2));
  return order && x < 0 ? -value : value;
}

#ifndef HOTARU_DEVICE_CODE
inline double k_near(int order, double x, bool scaled) {
  return std::cyl_bessel_k(double(order), x) * (scaled ? std::exp(x) : 1);
}
#endif

HOTARU_BOTH inline double k(int order, double x, bool scaled) {
  if (std::isnan(x) || x < 0) return kNaN;
  if (x == 0) return kInf;
  if (std::isinf(x)) return 0;
  if (x < kFar) return k_near(order, x, scaled);
  return std::sqrt(pi / (2 * x)) * asymptotic(order, x, 1) *
         (scaled ? 1 : std::exp(-x));
}

}  // namespace detail

#ifdef HOTARU_DEVICE_CODE
HOTARU_BOTH double bessel_j0(double x) {
  return std::isinf(x) ? detail::kNaN : detail::waves<0>(std::abs(x)).j;
}
HOTARU_BOTH double bessel_j1(double x) {
  if (std::isinf(x)) return detail::kNaN;
  const double y = detail::waves<1>(std::abs(x)).j;
  return x < 0 ? -y : y;
}
HOTARU_BOTH double bessel_y0(double x) {
  if (x == 0) return -detail::kInf;
  return x < 0 || std::isinf(x) ? detail::kNaN : detail::waves<0>(x).y;
}
HOTARU_BOTH double bessel_y1(double x) {
  if (x == 0) return -detail::kInf;
  return x < 0 || std::isinf(x) ? detail::kNaN : detail::waves<1>(x).y;
}
#else
double bessel_j0(double x) {
  return std::isinf(x) ? detail::kNaN : ::j0(x);
}
double bessel_j1(double x) {
  return std::isinf(x) ? detail::kNaN : ::j1(x);
}
double bessel_y0(double x) {
  if (x == 0) return -detail::kInf;
  return x < 0 || std::isinf(x) ? detail::kNaN : ::y0(x);
}
double bessel_y1(double x) {
  if (x == 0) return -detail::kInf;
  return x < 0 || std::isinf(x) ? detail::kNaN : ::y1(x);
}
#endif

HOTARU_BOTH double i0(double x) {
  return detail::i(0, x, false);
}
HOTARU_BOTH double i0e(double x) {
  return detail::i(0, x, true);
}
HOTARU_BOTH double i1(double x) {
  return detail::i(1, x, false);
}
HOTARU_BOTH double i1e(double x) {
  return detail::i(1, x, true);
}

HOTARU_BOTH double modified_bessel_k0(double x) {
  return detail::k(0, x, false);
}
HOTARU_BOTH double modified_bessel_k1(double x) {
  return detail::k(1, x, false);
}
HOTARU_BOTH double scaled_modified_bessel_k0(double x) {
  return detail::k(0, x, true);
}
HOTARU_BOTH double scaled_modified_bessel_k1(double x) {
  return detail::k(1, x, true);
}

HOTARU_BOTH double spherical_bessel_j0(double x) {
  if (std::isinf(x)) return 0;
  if (std::abs(x) >= 0.5) return std::sin(x) / x;
  const double z = x * x;
  return 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72)));
}

/// By Bessel's functions of order 1/3 (Abramowitz and Stegun, 10.4.14 and
/// 10.4.15), near 0 by Maclaurin's series.
HOTARU_BOTH double airy_ai(double x) {
  if (!std::isfinite(x)) return detail::kNaN;
  const double size = std::abs(x);
  if (size < 1e-8) return 0.355028053887817239 - 0.258819403792806798 * x;
  if (x > 100) return 0;
  if (x < -1e5) return detail::kNaN;  // the argument has no digits left
#ifdef HOTARU_DEVICE_CODE
  return detail::airy(x);
#else
  const double root = std::sqrt(size), z = 2.0 / 3 * size * root;
  constexpr double kThird = 1.0 / 3;
  if (x > 0) return std::sqrt(size / 3) / pi * std::cyl_bessel_k(kThird, z);
  // J(-1/3) = cos(pi/3) J(1/3) - sin(pi/3) Y(1/3)
  const double j = std::cyl_bessel_j(kThird, z);
  const double y = std::cyl_neumann(kThird, z);
  return root / 3 * (1.5 * j - std::numbers::sqrt3 / 2 * y);
#endif
}

}  // namespace hotaru::special
