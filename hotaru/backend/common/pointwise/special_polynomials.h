// Orthogonal polynomials by their three-term recurrences, Chebyshev's of high
// degree by their definition through angles (Abramowitz and Stegun, 22.3.15
// and 22.7).
#pragma once

#include <cmath>

#include "hotaru/backend/common/pointwise/special.h"

namespace hotaru::special {

namespace detail {

// A recurrence as long as that is no answer any more.
inline constexpr double kMostDegree = 1e7;
inline constexpr int64_t kDirect = 8;  // degrees from here on go by angles

/// `next(k, p, q)` of degree k + 1 from those before it, up to degree n.
template <class F>
HOTARU_BOTH inline double recur(double n, double first, double second,
                                const F& next) {
  if (n < 1) return first;
  if (n < 2) return second;
  if (n > kMostDegree) return kNaN;
  double p = first, q = second;
  for (int64_t k = 1; k < int64_t(n); ++k) {
    if (std::isnan(q)) return q;
    const double r = next(double(k), p, q);
    p = q;
    q = r;
  }
  return q;
}

HOTARU_BOTH inline bool is_even(double n) {
  return std::fmod(n, 2) == 0;
}

/// Chebyshev's of four kinds share one recurrence.
HOTARU_BOTH inline double chebyshev(double x, double n, double second) {
  return recur(n, 1, second,
               [x](double, double p, double q) { return 2 * x * q - p; });
}

/// Degree n as a whole number; NaN stays.
HOTARU_BOTH inline double whole(double n) {
  // By a conversion where it can be: std::trunc is a call for most processors.
  return std::abs(n) < 0x1p52 ? double(int64_t(n)) : n;
}

HOTARU_BOTH inline bool goes_by_angle(double x, double n) {
  return n > kDirect && std::abs(x) < 1;
}

HOTARU_BOTH inline double shifted(double x) {
  return 2 * x - 1;
}

}  // namespace detail

HOTARU_BOTH double chebyshev_polynomial_t(double x, double degree) {
  const double n = detail::whole(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  if (std::abs(x) == 1) return x > 0 || detail::is_even(n) ? 1 : -1;
  if (detail::goes_by_angle(x, n)) return std::cos(n * std::acos(x));
  return detail::chebyshev(x, n, x);
}

HOTARU_BOTH double chebyshev_polynomial_u(double x, double degree) {
  const double n = detail::whole(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  if (std::abs(x) == 1) return x > 0 || detail::is_even(n) ? n + 1 : -(n + 1);
  if (detail::goes_by_angle(x, n)) {
    const double angle = std::acos(x);
    return std::sin((n + 1) * angle) / std::sin(angle);
  }
  return detail::chebyshev(x, n, 2 * x);
}

HOTARU_BOTH double chebyshev_polynomial_v(double x, double degree) {
  const double n = detail::whole(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  if (x == 1) return 1;
  if (x == -1) return detail::is_even(n) ? 2 * n + 1 : -(2 * n + 1);
  if (detail::goes_by_angle(x, n)) {
    const double angle = std::acos(x);
    return std::cos((n + 0.5) * angle) / std::cos(angle / 2);
  }
  return detail::chebyshev(x, n, 2 * x - 1);
}

HOTARU_BOTH double chebyshev_polynomial_w(double x, double degree) {
  const double n = detail::whole(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  if (x == 1) return 2 * n + 1;
  if (x == -1) return detail::is_even(n) ? 1 : -1;
  if (detail::goes_by_angle(x, n)) {
    const double angle = std::acos(x);
    return std::sin((n + 0.5) * angle) / std::sin(angle / 2);
  }
  return detail::chebyshev(x, n, 2 * x + 1);
}

HOTARU_BOTH double shifted_chebyshev_polynomial_t(double x, double n) {
  return chebyshev_polynomial_t(detail::shifted(x), n);
}
HOTARU_BOTH double shifted_chebyshev_polynomial_u(double x, double n) {
  return chebyshev_polynomial_u(detail::shifted(x), n);
}
HOTARU_BOTH double shifted_chebyshev_polynomial_v(double x, double n) {
  return chebyshev_polynomial_v(detail::shifted(x), n);
}
HOTARU_BOTH double shifted_chebyshev_polynomial_w(double x, double n) {
  return chebyshev_polynomial_w(detail::shifted(x), n);
}

HOTARU_BOTH double hermite_polynomial_h(double x, double degree) {
  const double n = detail::whole(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  return detail::recur(n, 1, 2 * x, [x](double k, double p, double q) {
    return 2 * x * q - 2 * k * p;
  });
}

HOTARU_BOTH double hermite_polynomial_he(double x, double degree) {
  const double n = detail::whole(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  return detail::recur(
      n, 1, x, [x](double k, double p, double q) { return x * q - k * p; });
}

HOTARU_BOTH double laguerre_polynomial_l(double x, double degree) {
  const double n = detail::whole(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  if (x == 0) return 1;
  return detail::recur(n, 1, 1 - x, [x](double k, double p, double q) {
    return ((2 * k + 1 - x) * q - k * p) / (k + 1);
  });
}

HOTARU_BOTH double legendre_polynomial_p(double x, double degree) {
  const double n = detail::whole(degree);
  if (!(n >= 0)) return std::isnan(n) ? n : 0;
  if (std::abs(x) == 1) return x > 0 || detail::is_even(n) ? 1 : -1;
  return detail::recur(n, 1, x, [x](double k, double p, double q) {
    return ((2 * k + 1) * x * q - k * p) / (k + 1);
  });
}

}  // namespace hotaru::special
