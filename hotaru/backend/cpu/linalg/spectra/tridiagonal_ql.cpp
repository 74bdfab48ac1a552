// Implicit QL iterations (B. Parlett, "The symmetric eigenvalue problem", 1980,
// 8.13 and 8.15), of matrices whose largest element is about 1.
#include <algorithm>
#include <limits>

#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/tridiagonal.h"
#include "hotaru/backend/cpu/linalg/vectors.h"

namespace hotaru::cpu {
namespace {

/// sweep() without square roots and vectors, of squares of e.
template <class R>
void sweep_squares(int64_t l, int64_t m, R* d, R* e) {
  const R sigma = shift_of(d[l], std::sqrt(e[l]), d[l + 1]);
  R c = 1, s = 0, gamma = d[m] - sigma, p = gamma * gamma;
  for (int64_t i = m - 1; i >= l; --i) {
    const R square = e[i], r = p + square;
    if (i < m - 1) e[i + 1] = s * r;
    const R old_c = c, old_gamma = gamma;
    c = r == 0 ? R(1) : p / r;
    s = r == 0 ? R(0) : square / r;
    gamma = c * (d[i] - sigma) - s * old_gamma;
    d[i + 1] = old_gamma + (d[i] - gamma);
    p = c != 0 ? gamma * gamma / c : old_c * square;
  }
  e[l] = s * p;
  d[l] = sigma + gamma;
}

}  // namespace

template <class R>
bool tridiagonal_values(int64_t n, R* d, R* e) {
  for (int64_t i = 0; i + 1 < n; ++i) e[i] *= e[i];
  int64_t left = kMostSweeps * n;
  for (int64_t l = 0; l < n; ++l)
    while (true) {
      int64_t m = l;
      while (m + 1 < n && !negligible(std::sqrt(e[m]), d[m], d[m + 1])) ++m;
      if (m + 1 < n) e[m] = 0;
      if (m == l) break;
      if (left-- == 0) return false;
      sweep_squares(l, m, d, e);
    }
  std::sort(d, d + n);
  return true;
}

template <class R>
bool tridiagonal_rotations(int64_t n, R* d, R* e, int64_t width, R* q,
                           int64_t ldq) {
  const auto& rotate = table<LineKernels<R>>().rotate_rows;
  std::vector<R> c(static_cast<size_t>(n)), s(c);
  int64_t left = kMostSweeps * n;
  for (int64_t l = 0; l < n; ++l)
    while (true) {
      int64_t m = l;
      while (m + 1 < n && !negligible(e[m], d[m], d[m + 1])) ++m;
      if (m + 1 < n) e[m] = 0;
      if (m == l) break;
      if (left-- == 0) return false;
      sweep(l, m, d, e, c.data(), s.data());
      rotate(m - l, width, q + l * ldq, ldq, c.data() + l, s.data() + l, true);
    }
  return true;
}

#define HOTARU_INSTANTIATE(R) \
  template bool tridiagonal_values(int64_t, R*, R*); \
  template bool tridiagonal_rotations(int64_t, R*, R*, int64_t, R*, int64_t);
HOTARU_INSTANTIATE(float)
HOTARU_INSTANTIATE(double)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
