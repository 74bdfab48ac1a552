// Series of Bessel's functions, and those that stand in for the C++ library's
// on devices, which have none, or none as precise. A. & S.: Abramowitz and
// Stegun, "Handbook of Mathematical Functions" (1964).
#pragma once

#include <cmath>
#include <numbers>

#include "hotaru/backend/common/pointwise/special.h"

namespace hotaru::special {

using std::numbers::pi;

namespace detail {

// From here on the asymptotic series are exact to double: their least term is
// about exp(-2 x).
inline constexpr double kFar = 20;

/// 1 -+ (mu - 1) / 8x + (mu - 1)(mu - 9) / 2! (8x)^2 -+ ..., mu = 4 order^2
/// (A. & S. 9.7.1 and 9.7.2), until terms stop shrinking.
HOTARU_BOTH inline double asymptotic(double order, double x, double sign) {
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

#ifdef HOTARU_DEVICE_CODE
using std::numbers::egamma;

// Loops stay loops: unrolled they take more registers than there are.

/// J and Y of one order.
struct Waves {
  double j, y;
};

/// For x >= kFar by Hankel's expansions (A. & S. 9.2.5 to 9.2.10).
template <int kOrder>
HOTARU_BOTH inline Waves waves_far(double x) {
  constexpr double kMu = 4.0 * kOrder * kOrder;
  double p = 1, q = 0, term = 1;
#pragma unroll 1
  for (int k = 1; k < 60; ++k) {
    const double odd = 2 * k - 1;
    const double next = term * (kMu - odd * odd) / (k * 8 * x);
    if (std::abs(next) >= std::abs(term) || 1 + next == 1) break;
    term = next;
    const double signed_term = k / 2 % 2 ? -term : term;
    (k % 2 ? q : p) += signed_term;
  }
  // Cosine and sine of x - pi / 4 or x - 3 pi / 4, times sqrt(2).
  const double s = std::sin(x), c = std::cos(x);
  const double cosine = kOrder ? s - c : c + s;
  const double sine = kOrder ? -s - c : s - c;
  const double scale = 1 / std::sqrt(pi * x);
  return {scale * (p * cosine - q * sine), scale * (p * sine + q * cosine)};
}

/// For x > 0. Below kFar by the recurrence over orders downwards from one that
/// is next to nothing, scaled by 1 = J0 + 2 J2 + 2 J4 + ... (J. Miller; A. & S.
/// 9.12); Y by Neumann's series over the same orders (9.1.88).
template <int kOrder>
HOTARU_BOTH inline Waves waves(double x) {
  if (std::isnan(x)) return {x, x};
  if (x >= kFar) return waves_far<kOrder>(x);
  const double log_half = std::log(x / 2) + egamma;
  if (x < 1e-8)
    return {kOrder ? x / 2 : 1, 2 / pi * (kOrder ? -1 / x : log_half)};
  double above = 0, at = 1e-30, scale = 0, sum = 0;
#pragma unroll 1
  for (int n = 24 + 2 * int(x); n > 0; --n) {
    const int m = n / 2;
    const double sign = m % 2 ? -1 : 1;
    if (n % 2 == 0) scale += 2 * at;
    if (n % 2 == kOrder && m > 0)
      sum += sign * at * (kOrder ? double(n) / (m * (m + 1)) : 2.0 / m);
    const double below = 2 * n / x * at - above;
    above = at;
    at = below;
  }
  scale += at;
  const double j0 = at / scale, j1 = above / scale;
  if constexpr (kOrder == 0)
    return {j0, 2 / pi * (log_half * j0 - sum / scale)};
  else
    return {j1, 2 / pi * ((log_half - 1) * j1 - j0 / x - sum / scale)};
}

/// exp(x) K(x) for 1/2 <= x < kFar: the integral of exp(x - x cosh t)
/// cosh(order t) over t > 0 (A. & S. 9.6.24) by the trapezoidal rule, which
/// errs by some exp(x - pi^2 / step).
HOTARU_BOTH inline double scaled_k(double order, double x) {
  constexpr double kStep = 0.125, kLeast = 1e-18;
  double sum = 0.5;
#pragma unroll 1
  for (int n = 1; n < 100; ++n) {
    const double t = n * kStep, half = std::sinh(t / 2);
    const double term = std::exp(-2 * x * half * half) * std::cosh(order * t);
    sum += term;
    if (term < kLeast) break;
  }
  return kStep * sum;
}

/// K of order 0 or 1, exp(x) K if scaled, for 0 < x < kFar; below 1 by its
/// power series (A. & S. 9.6.11 and 9.6.13).
HOTARU_BOTH inline double k_near(int order, double x, bool scaled) {
  if (x >= 1) return scaled_k(order, x) * (scaled ? 1 : std::exp(-x));
  const double square = x * x / 4, log_half = std::log(x / 2) + egamma;
  // term: square^k / k! (k + order)!; harmonic: 1 + 1/2 + ... + 1/k
  double term = 1, harmonic = 0, sum = 0;
#pragma unroll 1
  for (int k = 0; k < 20; ++k) {
    const double psi = order ? harmonic + 0.5 / (k + 1) : harmonic;
    sum += term * (psi - log_half);
    harmonic += 1.0 / (k + 1);
    term *= square / ((k + 1.0) * (k + 1 + order));
  }
  if (order) sum = 1 / x - x / 2 * sum;
  return sum * (scaled ? std::exp(x) : 1);
}

/// Ai where |x| is at most 9.5, or above 1 at most 1/2 more: Taylor's series
/// about the nearest integer, whose coefficients follow from Ai'' = x Ai.
HOTARU_BOTH inline double airy_near(double x) {
  // Ai and Ai' at 1, 0, -1, ..., -9
  static constexpr double kValue[] = {
      0.135292416312881416,   0.355028053887817239,  0.535560883292352119,
      0.227407428201685576,   -0.378814293677658074, -0.0702655329492895151,
      0.35076100902411432,    -0.329145173629823105, 0.184280835250505637,
      -0.0527050503563862026, -0.0221337215473414037};
  static constexpr double kSlope[] = {
      -0.159147441296793213, -0.258819403792806798, -0.0101605671166452094,
      0.618259020741691041,  0.314583769216598814,  -0.79062857536858138,
      0.327192818554443137,  0.345935487281342895,  -0.771008168410126548,
      0.935560938198306551,  -0.975663980926331595};
  const double about = std::floor(x + 0.5), by = x - about;
  const int at = 1 - int(about);
  // t: terms k - 1, k and k + 1
  double t0 = 0, t1 = kValue[at], t2 = kSlope[at] * by, sum = t1 + t2;
#pragma unroll 1
  for (int k = 0; k < 24; ++k) {
    const double next =
        by * by * (about * t1 + by * t0) / ((k + 1.0) * (k + 2));
    sum += next;
    t0 = t1;
    t1 = t2;
    t2 = next;
  }
  return sum;
}

/// For x <= -9.5 (A. & S. 10.4.60), 1 < x (10.4.14) and between them.
HOTARU_BOTH inline double airy(double x) {
  if (x <= 1 && x >= -9.5) return airy_near(x);
  const double size = std::abs(x), z = 2.0 / 3 * size * std::sqrt(size);
  if (x > 0) {
    const double scaled =
        z < kFar ? scaled_k(1.0 / 3, z)
                 : std::sqrt(pi / (2 * z)) * asymptotic(1.0 / 3, z, 1);
    return std::sqrt(x / 3) / pi * std::exp(-z) * scaled;
  }
  double even = 1, odd = 0, term = 1;
#pragma unroll 1
  for (int k = 1; k < 60; ++k) {
    const double next = term * (6 * k - 5) * (6 * k - 1) / (72 * k * z);
    if (next >= term || 1 + next == 1) break;
    term = next;
    (k % 2 ? odd : even) += k / 2 % 2 ? -term : term;
  }
  const double s = std::sin(z), c = std::cos(z);
  return ((s + c) * even - (c - s) * odd) / std::sqrt(2 * pi * std::sqrt(size));
}
#endif  // HOTARU_DEVICE_CODE

}  // namespace detail
}  // namespace hotaru::special
