// Cubic convolution of interpolation and sampling.
#pragma once

#include <cmath>

#include "hotaru/backend/cuda/device/platform.h"

namespace hotaru::cuda {

/// Weight of an input at distance x, see cpu/resample/cubic.h.
template <class P>
__device__ P cubic(P x, P a) {
  x = std::abs(x);
  if (x <= P(1)) return ((a + P(2)) * x - (a + P(3))) * x * x + P(1);
  if (x >= P(2)) return P(0);
  return ((a * x - P(5) * a) * x + P(8) * a) * x - P(4) * a;
}

/// The derivative of cubic(x, -0.75).
template <class P>
__device__ P cubic_slope(P x) {
  constexpr P a = P(-0.75);
  const P sign = x < P(0) ? P(-1) : P(1);
  x = std::abs(x);
  if (x <= P(1)) return sign * (P(3) * (a + P(2)) * x - P(2) * (a + P(3))) * x;
  return sign * ((P(3) * a * x - P(10) * a) * x + P(8) * a);
}

}  // namespace hotaru::cuda
