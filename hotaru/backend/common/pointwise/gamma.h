// The logarithmic derivatives of the gamma function.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "hotaru/backend/common/both.h"

namespace hotaru::formulas {

/// sum + psi(x) of positive x: recurrence up to 10, then the asymptotic series
/// (Abramowitz and Stegun, 6.3.5 and 6.3.18).
HOTARU_BOTH inline double add_digamma(double x, double sum) {
  for (; x < 10; ++x) sum -= 1 / x;
  const double z = 1 / (x * x);
  constexpr double kSeries[] = {1.0 / 12,   -1.0 / 120, 1.0 / 252,
                                -1.0 / 240, 1.0 / 132,  -691.0 / 32760,
                                1.0 / 12};
  double series = 0;
  for (int k = 6; k >= 0; --k) series = (series + kSeries[k]) * z;
  return sum + std::log(x) - 0.5 / x - series;
}

/// psi(x); negative x by reflection. NaN at the negative integers, -+inf at 0.
template <class T>
struct Digamma {
  HOTARU_BOTH T operator()(T argument) const {
    double x = double(argument), sum = 0;
    if (x == 0)
      return T(std::copysign(std::numeric_limits<double>::infinity(), -x));
    if (x < 0) {
      if (x == std::floor(x)) return std::numeric_limits<T>::quiet_NaN();
      sum = -std::numbers::pi / std::tan(std::numbers::pi * x);
      x = 1 - x;
    }
    return T(add_digamma(x, sum));
  }
};

/// psi'(x), by the same means (Abramowitz and Stegun, 6.4.6 and 6.4.12).
template <class T>
struct Trigamma {
  HOTARU_BOTH T operator()(T argument) const {
    // From here on the series is as precise as T: for a float its last term is
    // below 1e-9 already from 5 on.
    constexpr double kSeriesFrom = sizeof(T) > sizeof(float) ? 10 : 5;
    double x = double(argument);
    double sign = 1, result = 0;
    if (x < 0.5) {
      sign = -1;
      const double s = std::sin(std::numbers::pi * x);
      result = -(std::numbers::pi * std::numbers::pi) / (s * s);
      x = 1 - x;
    }
    for (; x < kSeriesFrom; ++x) result += 1 / (x * x);
    const double z = 1 / (x * x);
    constexpr double kSeries[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                  5.0 / 66, -691.0 / 2730, 7.0 / 6};
    double series = 0;
    for (int k = 6; k >= 0; --k) series = (series + kSeries[k]) * z;
    result += (1 + 0.5 / x + series) / x;
    return T(sign * result);
  }
};

}  // namespace hotaru::formulas
