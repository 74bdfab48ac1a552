// One draw of a distribution with parameters of its own for each element, from
// a generator's uniform_double(), in [0, 1), and normal_double(). With the
// CPU's generator, which callers lock, they are PyTorch's values.
#pragma once

#include <cmath>
#include <limits>

#include "hotaru/backend/common/both.h"

namespace hotaru {

/// A draw of Gamma(alpha, 1), at least 0, by Marsaglia and Tsang's method
/// (2000); alpha < 1 by that of alpha + 1, whose factor is drawn first. NaN for
/// NaN. Arithmetic on alpha itself is done in T, with a third in float: that is
/// what PyTorch's draws are made of.
template <class T, class Gen>
HOTARU_BOTH double draw_gamma(T alpha, Gen& gen) {
  if (alpha == 0) return 0;
  if (!(alpha > 0)) return std::numeric_limits<double>::quiet_NaN();
  double scale = 1;
  if (alpha < 1) {
    scale = std::pow(1 - gen.uniform_double(), double(T(1) / alpha));
    alpha += 1;
  }
  const double d = double(alpha - T(1.0f / 3.0f)), c = 1 / std::sqrt(9 * d);
  while (true) {
    double x, y;
    do {
      x = gen.normal_double();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - gen.uniform_double(), xx = x * x;
    if (u < 1 - 0.0331 * xx * xx ||
        std::log(u) < 0.5 * xx + d * (1 - v + std::log(v)))
      return scale * d * v;
  }
}

/// Draws for a large mean: Hörmann's transformed rejection (PTRS, 1993).
template <class Gen>
HOTARU_BOTH double draw_poisson_wide(double rate, Gen& gen) {
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double squeeze = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = gen.uniform_double() - 0.5, v = gen.uniform_double();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= squeeze) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inv_alpha) - std::log(a / (us * us) + b) <=
        -rate + k * log_rate - std::lgamma(k + 1))
      return k;
  }
}

/// A count with mean `rate`: by the product of uniform numbers below 10. The
/// rate is at least 0 and finite.
template <class Gen>
HOTARU_BOTH double draw_poisson(double rate, Gen& gen) {
  if (rate >= 10) return draw_poisson_wide(rate, gen);
  if (rate == 0) return 0;
  const double end = std::exp(-rate);
  double count = 0, product = 1;
  while (true) {
    product *= gen.uniform_double();
    if (!(product > end)) return count;
    ++count;
  }
}

/// How far log k! is from Stirling's approximation with k + 1/2.
HOTARU_BOTH inline double stirling_rest(double k) {
  static constexpr double kFirst[] = {0.0810614667953272,  0.0413406959554092,
                                      0.0276779256849983,  0.02079067210376509,
                                      0.0166446911898211,  0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720,
                                      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kFirst[size_t(k)];
  const double q = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / q) / q) / (k + 1);
}

/// Draws for many expected successes: Hörmann's transformed rejection (BTRS,
/// 1993).
template <class Gen>
HOTARU_BOTH double draw_binomial_wide(double n, double p, Gen& gen) {
  const double std = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * std, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = n * p + 0.5, squeeze = 0.92 - 4.2 / b, odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * std, m = std::floor((n + 1) * p);
  while (true) {
    const double u = gen.uniform_double() - 0.5, v = gen.uniform_double();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= squeeze) return k;
    if (k < 0 || k > n) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (odds * (n - m + 1))) +
                         (n + 1) * std::log((n - m + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) +
                         stirling_rest(m) + stirling_rest(n - m) -
                         stirling_rest(k) - stirling_rest(n - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

/// Successes among n tries of probability p <= 1/2, by the waits between them
/// where few are expected.
template <class Gen>
HOTARU_BOTH double draw_binomial_rare(double n, double p, Gen& gen) {
  if (n * p >= 10) return draw_binomial_wide(n, p, gen);
  const double log_miss = std::log1p(-p);
  double tries = 0, count = 0;
  while (true) {
    tries += std::ceil(std::log(gen.uniform_double()) / log_miss);
    if (!(tries <= n)) return count;
    ++count;
  }
}

/// Successes among n tries of probability p; p outside [0, 1] counts as the
/// nearer end. NaN if either is NaN.
template <class Gen>
HOTARU_BOTH double draw_binomial(double n, double p, Gen& gen) {
  if (std::isnan(n) || std::isnan(p))
    return std::numeric_limits<double>::quiet_NaN();
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  return p <= 0.5 ? draw_binomial_rare(n, p, gen)
                  : n - draw_binomial_rare(n, 1 - p, gen);
}

}  // namespace hotaru
