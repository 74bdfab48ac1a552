// Incomplete gamma functions and Hurwitz' zeta function.
#pragma once

#include <cmath>
#include <limits>

#include "hotaru/backend/common/pointwise/special.h"

namespace hotaru::special {

namespace detail {

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr int kMostSteps = 100000;

/// x^a exp(-x) / gamma(a), which may be far outside double's range on the way.
HOTARU_BOTH inline double front(double a, double x) {
  return std::exp(a * std::log(x) - x - std::lgamma(a));
}

/// P(a, x) by its series (Abramowitz and Stegun, 6.5.29), for x < a + 1.
HOTARU_BOTH inline double lower(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < kMostSteps; ++n) {
    term *= x / (a + n);
    sum += term;
    if (term < sum * kEpsilon) break;
  }
  return sum * front(a, x);
}

/// Q(a, x) by its continued fraction (6.5.31), evaluated from the front by
/// Lentz' method, for the other x.
HOTARU_BOTH inline double upper(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int n = 1; n < kMostSteps; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = numerator * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + numerator / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double factor = d * c;
    h *= factor;
    if (std::abs(factor - 1) < kEpsilon) break;
  }
  return h * front(a, x);
}

/// The regularised integral, from 0 to x or from x on.
HOTARU_BOTH inline double incomplete(double a, double x, bool from_x) {
  const double all = from_x ? 0 : 1, nothing = 1 - all;
  if (!(a >= 0) || !(x >= 0)) return kNaN;
  if (a == 0) return x > 0 ? all : kNaN;
  if (x == 0) return nothing;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : nothing;
  if (std::isinf(x)) return all;
  const bool near = x < a + 1;
  const double value = near ? lower(a, x) : upper(a, x);
  return near == from_x ? 1 - value : value;
}

}  // namespace detail

HOTARU_BOTH double igamma(double a, double x) {
  return detail::incomplete(a, x, false);
}
HOTARU_BOTH double igammac(double a, double x) {
  return detail::incomplete(a, x, true);
}

/// Sum of (q + k)^-x: terms up to q + k = x + 9, the rest by Euler and
/// Maclaurin (Abramowitz and Stegun, 23.1.30), whose terms go by (x + 2 j) / (q
/// + k).
HOTARU_BOTH double zeta(double x, double q) {
  if (x == 1) return detail::kInf;
  if (!(x > 1) || std::isnan(q)) return detail::kNaN;
  if (q <= 0) {
    if (q == std::floor(q)) return detail::kInf;
    if (x != std::floor(x)) return detail::kNaN;  // powers of negative numbers
    if (q < -1e6) return detail::kNaN;
  }
  double sum = 0, at = q;
  for (; at < x + 9; ++at) {
    const double term = std::pow(at, -x);
    if (sum + term == sum && at > 0) return sum;
    sum += term;
  }
  const double power = std::pow(at, -x);
  sum += power * at / (x - 1) + power / 2;
  // B_2j / (2j)!
  constexpr double kBernoulli[] = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000.0,
                                   1.0 / 74724249600.0,
                                   -3617.0 / 10670622842880000.0};
  double factor = x, scale = power / at;
  int j = 0;
  for (const double b : kBernoulli) {
    sum += b * factor * scale;
    factor *= (x + 2 * j + 1) * (x + 2 * j + 2);
    scale /= at * at;
    ++j;
  }
  return sum;
}

}  // namespace hotaru::special
