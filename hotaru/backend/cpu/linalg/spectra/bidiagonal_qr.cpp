// Singular values of bidiagonal matrices by implicit QR (G. Golub and C. Van
// Loan, Matrix computations, 8.6), without a shift where that would cost small
// values their digits (J. Demmel and W. Kahan, "Accurate singular values of
// bidiagonal matrices", 1990). The largest element is about 1.
#include <algorithm>
#include <limits>

#include "hotaru/backend/cpu/linalg/spectra/bidiagonal.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/vectors.h"

namespace hotaru::cpu {
namespace {

/// For each value; two are usual.
constexpr int64_t kMostSweeps = 60;

template <class R>
class Sweeps {
 public:
  Sweeps(int64_t n, R* d, R* e, bool vectors)
      : d_(d),
        e_(e),
        vectors_(vectors),
        turns_(size_t(vectors ? 4 * n : 0)),
        n_(n) {}

  const R* left_c() const { return turns_.data(); }
  const R* left_s() const { return turns_.data() + n_; }
  const R* right_c() const { return turns_.data() + 2 * n_; }
  const R* right_s() const { return turns_.data() + 3 * n_; }

  void sweep(int64_t l, int64_t m) {
    const R shift = smaller_value(m);
    R least = std::abs(d_[l]);
    for (int64_t i = l; i <= m; ++i) least = std::min(least, std::abs(d_[i]));
    const R ratio = least == 0 ? R(0) : shift / std::abs(d_[l]);
    if (ratio * ratio < std::numeric_limits<R>::epsilon())
      unshifted(l, m);
    else
      shifted(l, m, shift);
  }

 private:
  /// The smaller singular value of [d e; 0 d'] at the end.
  R smaller_value(int64_t m) const {
    const R f = std::abs(d_[m - 1]), g = std::abs(e_[m - 1]),
            h = std::abs(d_[m]);
    const R least = std::min(f, h), most = std::max(f, h);
    if (least == 0) return 0;
    const R sum = 1 + least / most, gap = (most - least) / most;
    if (g < most) {
      const R u = (g / most) * (g / most);
      return least *
             (2 / (std::sqrt(sum * sum + u) + std::sqrt(gap * gap + u)));
    }
    const R u = most / g;
    if (u == 0) return least * most / g;
    return 2 * (least * u) /
           (std::sqrt(1 + (sum * u) * (sum * u)) +
            std::sqrt(1 + (gap * u) * (gap * u)));
  }

  void keep(int64_t i, const Rotation<R>& left, const Rotation<R>& right) {
    if (!vectors_) return;
    R* at = turns_.data() + i;
    at[0] = left.c;
    at[n_] = left.s;
    at[2 * n_] = right.c;
    at[3 * n_] = right.s;
  }

  void unshifted(int64_t l, int64_t m) {
    R c = 1, left_c = 1, left_s = 0;
    for (int64_t i = l; i < m; ++i) {
      const Rotation<R> right(d_[i] * c, e_[i]);
      if (i > l) e_[i - 1] = left_s * right.r;
      const Rotation<R> left(left_c * right.r, d_[i + 1] * right.s);
      d_[i] = left.r;
      c = right.c, left_c = left.c, left_s = left.s;
      keep(i, left, right);
    }
    const R h = d_[m] * c;
    d_[m] = h * left_c;
    e_[m - 1] = h * left_s;
  }

  void shifted(int64_t l, int64_t m, R shift) {
    R f = (std::abs(d_[l]) - shift) *
          (std::copysign(R(1), d_[l]) + shift / d_[l]);
    R g = e_[l];
    for (int64_t i = l; i < m; ++i) {
      const Rotation<R> right(f, g);
      if (i > l) e_[i - 1] = right.r;
      f = right.c * d_[i] + right.s * e_[i];
      e_[i] = right.c * e_[i] - right.s * d_[i];
      g = right.s * d_[i + 1];
      d_[i + 1] *= right.c;
      const Rotation<R> left(f, g);
      d_[i] = left.r;
      f = left.c * e_[i] + left.s * d_[i + 1];
      d_[i + 1] = left.c * d_[i + 1] - left.s * e_[i];
      if (i + 1 < m) {
        g = left.s * e_[i + 1];
        e_[i + 1] *= left.c;
      }
      keep(i, left, right);
    }
    e_[m - 1] = f;
  }

  R *d_, *e_;
  bool vectors_;
  std::vector<R> turns_;
  int64_t n_;
};

/// Takes the element right of the last row away, by turning the last column
/// with those before it, from the last to the first.
template <class R>
void drop_column(int64_t n, R* d, R* e, R* vt, int64_t ld) {
  R fill = e[n - 1];
  for (int64_t i = n - 1; i >= 0 && fill != 0; --i) {
    const Rotation<R> right(d[i], fill);
    d[i] = right.r;
    if (i > 0) {
      fill = -right.s * e[i - 1];
      e[i - 1] *= right.c;
    }
    if (vt)
      table<LineKernels<R>>().rotate_rows(1, n + 1, vt + i * ld, (n - i) * ld,
                                          &right.c, &right.s, false);
    if (i == 0) break;
  }
}

}  // namespace

template <class R>
bool bidiagonal_rotations(int64_t n, bool extra, R* d, R* e, R* ut, R* vt,
                          int64_t ld) {
  // Rounding leaves some units between values that are next to equal.
  constexpr R kEps = std::numeric_limits<R>::epsilon(), kLeast = 8 * kEps;
  const auto& rotate = table<LineKernels<R>>().rotate_rows;
  if (extra && n > 0) drop_column(n, d, e, vt, ld);
  Sweeps<R> sweeps(n, d, e, ut != nullptr);
  int64_t left = kMostSweeps * n;
  for (int64_t m = n - 1; m > 0;) {
    int64_t l = m;
    for (; l > 0; --l) {
      const R size = std::abs(d[l - 1]) + std::abs(d[l]);
      if (std::abs(e[l - 1]) <= kLeast * (size / 2 + kEps)) break;
    }
    if (l > 0) e[l - 1] = 0;
    if (l == m) {
      --m;
      continue;
    }
    if (left-- == 0) return false;
    sweeps.sweep(l, m);
    if (!ut) continue;
    rotate(m - l, n, ut + l * ld, ld, sweeps.left_c() + l, sweeps.left_s() + l,
           false);
    rotate(m - l, n + (extra ? 1 : 0), vt + l * ld, ld, sweeps.right_c() + l,
           sweeps.right_s() + l, false);
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!std::signbit(d[i])) continue;
    d[i] = -d[i];
    if (vt)
      for (int64_t j = 0; j < n + (extra ? 1 : 0); ++j)
        vt[i * ld + j] = -vt[i * ld + j];
  }
  return true;
}

template bool bidiagonal_rotations(int64_t, bool, float*, float*, float*,
                                   float*, int64_t);
template bool bidiagonal_rotations(int64_t, bool, double*, double*, double*,
                                   double*, int64_t);

}  // namespace hotaru::cpu
