// Implicit QL iterations (B. Parlett, "The symmetric eigenvalue problem", 1980,
// 8.13), of matrices whose largest element is about 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hotaru/backend/common/both.h"

namespace hotaru {

/// Takes (f, g) to (r, 0): c f + s g = r and c g = s f.
template <class R>
struct Rotation {
  R c, s, r;

  HOTARU_BOTH Rotation(R f, R g) {
    constexpr R kTiny =
        std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
    const R square = f * f + g * g;
    if (square > kTiny) {
      r = std::sqrt(square);
      c = f / r;
      s = g / r;
    } else if (f == 0 && g == 0) {
      r = s = 0;
      c = 1;
    } else {  // their squares have lost digits
      const R up = 1 / std::max(std::abs(f), std::abs(g));
      const R x = std::isfinite(up) ? f * up : f / kTiny;
      const R y = std::isfinite(up) ? g * up : g / kTiny;
      const R length = std::hypot(x, y);
      c = x / length;
      s = y / length;
      r = std::hypot(f, g);
    }
  }
};

/// For each eigenvalue; two are usual.
inline constexpr int64_t kMostSweeps = 60;

/// Tells whether an element between d and next may be taken for 0.
template <class R>
HOTARU_BOTH bool negligible(R e, R d, R next) {
  constexpr R kEps = std::numeric_limits<R>::epsilon();
  return std::abs(e) <=
         kEps * (std::sqrt(std::abs(d)) * std::sqrt(std::abs(next)) + kEps);
}

/// Wilkinson's shift: the eigenvalue of [d e; e next] that is nearer to d.
template <class R>
HOTARU_BOTH R shift_of(R d, R e, R next) {
  const R g = (next - d) / (2 * e);
  return d - e / (g + std::copysign(std::hypot(g, R(1)), g));
}

/// One sweep over rows l to m, from below; the rotations are left in c and s.
template <class R>
HOTARU_BOTH void sweep(int64_t l, int64_t m, R* d, R* e, R* c, R* s) {
  R g = d[m] - shift_of(d[l], e[l], d[l + 1]);
  R sine = 1, cosine = 1, p = 0;
  for (int64_t i = m - 1; i >= l; --i) {
    const R b = cosine * e[i];
    const Rotation<R> turn(g, sine * e[i]);
    if (i < m - 1) e[i + 1] = turn.r;
    sine = turn.s;
    cosine = turn.c;
    g = d[i + 1] - p;
    const R t = (d[i] - g) * sine + 2 * cosine * b;
    p = sine * t;
    d[i + 1] = g + p;
    g = cosine * t - b;
    c[i] = cosine;
    s[i] = -sine;
  }
  d[l] -= p;
  e[l] = g;
}

}  // namespace hotaru
