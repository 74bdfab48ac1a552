// The filter of interpolation named after C. Lanczos: sinc in a window of three
// lobes of sinc.
#pragma once

#include <cmath>
#include <numbers>

#include "hotaru/backend/common/both.h"

namespace hotaru {

/// Weight of an input at distance x, 0 from 3 on, by the sines of pi x and of
/// pi x / 3: devices have functions for those.
template <class A>
HOTARU_BOTH A lanczos(A x, A sine, A sine_of_third) {
  if (x == A(0)) return A(1);
  if (std::abs(x) >= A(3)) return A(0);
  const A t = x * std::numbers::pi_v<A>;
  return sine / t * sine_of_third / (t / A(3));
}

}  // namespace hotaru
