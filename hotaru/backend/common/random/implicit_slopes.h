// How draws move with the parameters of their distribution while their
// cumulative probability F stays (implicit reparameterization, Figurnov et al.
// 2018; for Dirichlet's Jankowiak and Obermeyer 2018):
//   dx/da = -(dF(x; a)/da) / (dF(x; a)/dx).
// Pure functions in double. The series that follow have terms of one sign where
// they are used, so they are good to about 1e-9; the approximations for large
// parameters to about 1e-4.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "hotaru/backend/common/pointwise/gamma.h"

namespace hotaru::implicit {

/// Digamma of positive x.
HOTARU_BOTH inline double digamma(double x) {
  return formulas::add_digamma(x, 0);
}

/// Most terms of a series; what is left is taken for a geometric one.
inline constexpr int64_t kMostTerms = 1'000'000;

/// The sum over n of t_n s_n, from t_0 and s_0: t grows by ratio(n), s by
/// step(n).
template <class Ratio, class Step>
HOTARU_BOTH double weighted_sum(double t, double s, const Ratio& ratio,
                                const Step& step) {
  double sum = t * s, last = 1;
  for (int64_t n = 0; n < kMostTerms; ++n) {
    last = ratio(n);
    t *= last;
    s += step(n);
    sum += t * s;
    if (last < 1 && t * (std::abs(s) + 1) < 1e-12 * (1 - last) * std::abs(sum))
      return sum;
  }
  return last < 1 ? sum + t * s * last / (1 - last) : sum;
}

/// Below the mean: the lower incomplete gamma function's power series (DLMF
/// 8.7.1), differentiated term by term.
HOTARU_BOTH inline double gamma_slope_below(double a, double x) {
  return x * weighted_sum(
                 1 / a, digamma(a + 1) - std::log(x),
                 [&](int64_t n) { return x / (a + double(n) + 1); },
                 [&](int64_t n) { return 1 / (a + double(n) + 1); });
}

/// Above it: the upper function's continued fraction (DLMF 8.9.2, by Lentz's
/// method) along with its derivative in a.
HOTARU_BOTH inline double gamma_slope_above(double a, double x) {
  const double start = std::log(x) - digamma(a);
  double b = x + 1 - a, db = -1;
  double c = 1e300, dc = 0, d = 1 / b, dd = d * d;
  double h = d, dh = dd;
  for (int64_t n = 1; n < kMostTerms; ++n) {
    const double k = double(n), an = -k * (k - a);
    b += 2;
    // d = 1 / (an d + b), c = b + an / c, h *= c d; each with its derivative.
    const double below = an * d + b;
    dd = -(k * d + an * dd + db) / (below * below);
    d = 1 / below;
    dc = db + k / c - an * dc / (c * c);
    c = b + an / c;
    const double factor = c * d;
    dh = dh * factor + h * (dc * d + c * dd);
    h *= factor;
    if (std::abs(factor - 1) < 1e-14 && std::abs(dc * d + c * dd) < 1e-12)
      break;
  }
  return x * (h * start + dh);
}

/// Slope for large a: Cornish and Fisher's expansion x = a + z sqrt(a) + (z^2 -
/// 1)/3
/// + (z^3 - 7z)/(36 sqrt(a)) with the normal quantile z held.
HOTARU_BOTH inline double gamma_slope_wide(double a, double x) {
  const double root = std::sqrt(a), y = (x - a) / root;
  double z = y;
  for (int i = 0; i < 4; ++i)
    z = y - (z * z - 1) / (3 * root) - (z * z - 7) * z / (36 * a);
  return 1 + z / (2 * root) - (z * z - 7) * z / (72 * a * root);
}

/// dx/da of a draw x of Gamma(a, 1). NaN unless a > 0 and x >= 0.
HOTARU_BOTH inline double gamma_slope(double a, double x) {
  if (!(a > 0) || !(x >= 0) || std::isinf(a) || std::isinf(x))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return 0;
  if (a > 1e4 && std::abs(x - a) < 10 * std::sqrt(a))
    return gamma_slope_wide(a, x);
  return x <= a + 1 ? gamma_slope_below(a, x) : gamma_slope_above(a, x);
}

/// Slope for large a and b: a normal number with the moments of Beta(a, b).
HOTARU_BOTH inline double beta_slope_wide(double x, double a, double b) {
  const double s = a + b, mean = a / s;
  // The logarithmic derivative of the standard deviation.
  const double grows = 0.5 * (1 / a - 2 / s - 1 / (s + 1));
  return b / (s * s) + (x - mean) * grows;
}

/// (dx/da) / (1 - x) of a draw x of Beta(a, total - a): the slope that all
/// elements of a Dirichlet draw share. NaN unless 0 < x < 1 and 0 < a < total.
HOTARU_BOTH inline double dirichlet_slope(double x, double a, double total) {
  const double b = total - a, y = 1 - x;
  // b may vanish in the rounding of total, and then x is 1 whatever a is.
  if (a > 0 && ((x == 0 && b > 0) || (b == 0 && x <= 1))) return 0;
  if (!(a > 0 && b > 0 && x > 0 && x < 1) || std::isinf(total))
    return std::numeric_limits<double>::quiet_NaN();
  if (a > 1e5 && b > 1e5) {
    const double spread = std::sqrt(a * b / (total + 1)) / total;
    if (std::abs(x - a / total) < 8 * spread)
      return beta_slope_wide(x, a, b) / y;
  }
  // Both are expansions of the incomplete beta function (DLMF 8.17.8 and its
  // reflection). The first one cancels e^12 at most of where it is used.
  if (x * (total + 2) <= a + 1 || (x < 0.5 && x * total <= a + 12))
    return x * weighted_sum(
                   1 / a, digamma(a + 1) - digamma(total) - std::log(x),
                   [&](int64_t n) {
                     return (total + double(n)) * x / (a + double(n) + 1);
                   },
                   [&](int64_t n) {
                     return 1 / (a + double(n) + 1) - 1 / (total + double(n));
                   });
  return x * weighted_sum(
                 1 / b, std::log(x) + digamma(total) - digamma(a),
                 [&](int64_t n) {
                   return (total + double(n)) * y / (b + double(n) + 1);
                 },
                 [&](int64_t n) { return 1 / (total + double(n)); });
}

}  // namespace hotaru::implicit
