// Bessel's functions of orders 0 and 1, and Airy's.
#include <cmath>
#include <limits>
#include <numbers>

#include "hotaru/backend/common/pointwise/special.h"

namespace hotaru::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using std::numbers::pi;

// From here on the asymptotic series are exact to double: their least term is
// about exp(-2 x).
constexpr double kFar = 20;

/// 1 -+ (mu - 1) / 8x + (mu - 1)(mu - 9) / 2! (8x)^2 -+ ..., mu = 4 order^2
/// (Abramowitz and Stegun, 9.7.1 and 9.7.2), until terms stop shrinking.
double asymptotic(int order, double x, double sign) {
  const double mu = 4.0 * order * order;
  double sum = 1, term = 1;
  for (int k = 1; k < 60; ++k) {
    const double odd = 2 * k - 1;
    const double next = term * sign * (mu - odd * odd) / (k * 8 * x);
    if (std::abs(next) >= std::abs(term) || sum + next == sum) break;
    sum += term = next;
  }
  return sum;
}

/// exp(-|x|) I(x), |x| at least kFar.
double scaled_i_far(int order, double x) {
  return asymptotic(order, x, -1) / std::sqrt(2 * pi * x);
}

/// The power series, all of whose terms are positive (9.6.10).
double i_near(int order, double x) {
  const double square = x * x / 4;
  double term = order ? x / 2 : 1, sum = term;
  for (int k = 1; sum + term != sum; ++k)
    sum += term *= square / (double(k) * (k + order));
  return sum;
}

double i(int order, double x, bool scaled) {
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

double k(int order, double x, bool scaled) {
  if (std::isnan(x) || x < 0) return kNaN;
  if (x == 0) return kInf;
  if (std::isinf(x)) return 0;
  if (x < kFar)
    return std::cyl_bessel_k(double(order), x) * (scaled ? std::exp(x) : 1);
  return std::sqrt(pi / (2 * x)) * asymptotic(order, x, 1) *
         (scaled ? 1 : std::exp(-x));
}

}  // namespace

double bessel_j0(double x) {
  return std::isinf(x) ? kNaN : ::j0(x);
}
double bessel_j1(double x) {
  return std::isinf(x) ? kNaN : ::j1(x);
}
double bessel_y0(double x) {
  if (x == 0) return -kInf;
  return x < 0 || std::isinf(x) ? kNaN : ::y0(x);
}
double bessel_y1(double x) {
  if (x == 0) return -kInf;
  return x < 0 || std::isinf(x) ? kNaN : ::y1(x);
}

double i0(double x) {
  return i(0, x, false);
}
double i0e(double x) {
  return i(0, x, true);
}
double i1(double x) {
  return i(1, x, false);
}
double i1e(double x) {
  return i(1, x, true);
}

double modified_bessel_k0(double x) {
  return k(0, x, false);
}
double modified_bessel_k1(double x) {
  return k(1, x, false);
}
double scaled_modified_bessel_k0(double x) {
  return k(0, x, true);
}
double scaled_modified_bessel_k1(double x) {
  return k(1, x, true);
}

double spherical_bessel_j0(double x) {
  if (std::isinf(x)) return 0;
  if (std::abs(x) >= 0.5) return std::sin(x) / x;
  const double z = x * x;
  return 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72)));
}

/// By Bessel's functions of order 1/3 (Abramowitz and Stegun, 10.4.14 and
/// 10.4.15), near 0 by Maclaurin's series.
double airy_ai(double x) {
  if (!std::isfinite(x)) return kNaN;
  const double size = std::abs(x);
  if (size < 1e-8) return 0.355028053887817239 - 0.258819403792806798 * x;
  const double root = std::sqrt(size), z = 2.0 / 3 * size * root;
  constexpr double kThird = 1.0 / 3;
  if (x > 0) {
    if (x > 100) return 0;
    return std::sqrt(size / 3) / pi * std::cyl_bessel_k(kThird, z);
  }
  if (x < -1e5) return kNaN;  // the argument has no digits left
  // J(-1/3) = cos(pi/3) J(1/3) - sin(pi/3) Y(1/3)
  const double j = std::cyl_bessel_j(kThird, z);
  const double y = std::cyl_neumann(kThird, z);
  return root / 3 * (1.5 * j - std::numbers::sqrt3 / 2 * y);
}

}  // namespace hotaru::special
