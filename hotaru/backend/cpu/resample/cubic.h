// The cubic filter of interpolation (R. Keys, Cubic convolution interpolation
// for digital image processing, 1981).
#pragma once

#include <cmath>

namespace hotaru::cpu {

/// Weight of an input at distance x; 0 from 2 on. a is the slope at 1: -0.75 in
/// plain interpolation, -0.5 in that with antialias.
template <class A>
A cubic(A x, A a) {
  x = std::abs(x);
  if (x <= A(1)) return ((a + A(2)) * x - (a + A(3))) * x * x + A(1);
  if (x >= A(2)) return A(0);
  return ((a * x - A(5) * a) * x + A(8) * a) * x - A(4) * a;
}

}  // namespace hotaru::cpu
