// The cubic filter of interpolation (R. Keys, Cubic convolution interpolation
// for digital image processing, 1981).
#pragma once

#include <cmath>

#include "hotaru/backend/common/both.h"

namespace hotaru {

/// Weight of an input at distance x; 0 from 2 on. a is the slope at 1: -0.75 in
/// plain interpolation, -0.5 in that with antialias.
template <class A>
HOTARU_BOTH A cubic(A x, A a) {
  x = std::abs(x);
  if (x <= A(1)) return ((a + A(2)) * x - (a + A(3))) * x * x + A(1);
  if (x >= A(2)) return A(0);
  return ((a * x - A(5) * a) * x + A(8) * a) * x - A(4) * a;
}

/// The derivative of cubic(x, -0.75).
template <class A>
HOTARU_BOTH A cubic_slope(A x) {
  constexpr A a = A(-0.75);
  const A sign = x < A(0) ? A(-1) : A(1);
  x = std::abs(x);
  if (x <= A(1)) return sign * (A(3) * (a + A(2)) * x - A(2) * (a + A(3))) * x;
  return sign * ((A(3) * a * x - A(10) * a) * x + A(8) * a);
}

}  // namespace hotaru
