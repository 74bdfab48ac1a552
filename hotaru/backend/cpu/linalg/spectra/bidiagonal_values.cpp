// Singular values alone of bidiagonal matrices, by differential quotients and
// differences with shifts (K. Fernando and B. Parlett, "Accurate singular
// values and differential qd algorithms", 1994): a sweep has a division where
// implicit QR has two square roots and four divisions in a chain. Shifts are
// estimates: one that is too large is seen by a negative quotient, and the
// sweep done again with less.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hotaru/backend/cpu/linalg/spectra/bidiagonal.h"

namespace hotaru::cpu {
namespace {

template <class R>
class Quotients {
 public:
  Quotients(int64_t n, const R* d, const R* e)
      : q_(size_t(n)), e_(size_t(n)), q_after_(size_t(n)), e_after_(size_t(n)) {
    const auto square = [](R x) { return (x * kUp) * (x * kUp); };
    std::transform(d, d + n, q_.begin(), square);
    std::transform(e, e + n - 1, e_.begin(), square);
  }

  /// False if it does not converge.
  bool solve(R* values) {
    std::vector<Segment> open{{0, last_index(), 0, 0}};
    int64_t left = kMostSweeps * (last_index() + 1);
    while (!open.empty()) {
      Segment s = open.back();
      open.pop_back();
      known_ = -1;
      while (s.last >= s.first) {
        if (deflate(s, values)) continue;
        if (left-- == 0) return false;
        split(s, open);
        if (!sweep(s)) return false;
      }
    }
    return true;
  }

 private:
  /// Rows first to last, whose values squared are `shift` + `rest` more.
  struct Segment {
    int64_t first, last;
    R shift, rest;

    void add(R tau) {
      const R sum = shift + tau;
      rest += tau - (sum - shift);
      shift = sum;
    }
    R total() const { return shift + rest; }
  };

  static constexpr int64_t kMostSweeps = 40;
  static constexpr R kEps = std::numeric_limits<R>::epsilon();
  static constexpr R kNothing = (100 * kEps) * (100 * kEps);
  // Squares of small numbers must not vanish; the largest number is about 1.
  static constexpr R kUp = sizeof(R) == 8 ? R(0x1p480) : R(0x1p58f);

  int64_t last_index() const { return int64_t(q_.size()) - 1; }
  R q(int64_t i) const { return q_[size_t(i)]; }
  R e(int64_t i) const { return e_[size_t(i)]; }

  void put(R* values, int64_t i, R square) const {
    values[i] = std::sqrt(square) / kUp;
  }

  /// Takes one value or two off the end, if they have come apart.
  bool deflate(Segment& s, R* values) {
    const int64_t m = s.last;
    const R shift = s.total();
    if (m == s.first || e(m - 1) <= kNothing * (shift + q(m))) {
      put(values, m, q(m) + shift);
      shorten(s, 1);
      return true;
    }
    if (m - 1 > s.first && !(e(m - 2) <= kNothing * shift)) return false;
    R a = q(m - 1), b = q(m);
    if (b > a) std::swap(a, b);
    if (e(m - 1) > b * kNothing) {
      const R half = R(0.5) * ((a - b) + e(m - 1)),
              part = b * (e(m - 1) / half);
      const R less =
          part <= half
              ? b * (e(m - 1) / (half * (1 + std::sqrt(1 + part / half))))
              : b * (e(m - 1) /
                     (half + std::sqrt(half) * std::sqrt(half + part)));
      const R most = a + (less + e(m - 1));
      b *= a / most;
      a = most;
    }
    put(values, m - 1, a + shift);
    put(values, m, b + shift);
    shorten(s, 2);
    return true;
  }

  void shorten(Segment& s, int64_t count) {
    const bool known = known_ == s.last;
    s.last -= count;
    known_ = known ? s.last : -1;
    if (s.last < s.first) return;
    end_ = q(s.last);
    least_ = std::min(least_before_, end_);
  }

  /// Leaves the part before the last gap for later; turns what falls the wrong
  /// way around.
  void split(Segment& s, std::vector<Segment>& open) {
    int64_t l = s.last - 1;
    while (l > s.first && !(e(l - 1) <= kNothing * s.total())) --l;
    if (l > s.first) {
      open.push_back({s.first, l - 1, s.shift, s.rest});
      s.first = l;
    }
    if (known_ == s.last || q(l) * R(1.5) >= q(s.last)) return;
    std::reverse(q_.begin() + l, q_.begin() + s.last + 1);
    std::reverse(e_.begin() + l, e_.begin() + s.last);
  }

  bool sweep(Segment& s) {
    R tau = known_ == s.last ? next_shift(s.last) : R(0);
    for (int tries = 0; !try_sweep(s.first, s.last, tau); ++tries) {
      if (!(tau > 0)) return false;
      grow_ = 0;
      if (tries == 2)
        tau = 0;
      else if (least_before_ > 0)  // the end alone: it says by how much
        tau = std::max(R(0), (tau + end_) * (1 - 2 * kEps));
      else
        tau *= R(0.25);
    }
    std::copy(q_after_.begin() + s.first, q_after_.begin() + s.last + 1,
              q_.begin() + s.first);
    std::copy(e_after_.begin() + s.first, e_after_.begin() + s.last,
              e_.begin() + s.first);
    known_ = s.last;
    s.add(tau);
    return true;
  }

  bool try_sweep(int64_t l, int64_t m, R tau) {
    const R *q = q_.data(), *e = e_.data();
    R *q_after = q_after_.data(), *e_after = e_after_.data();
    R d = q[l] - tau;
    least_before_ = d;
    for (int64_t i = l; i < m; ++i) {
      least_before_ = std::min(least_before_, d);
      q_after[i] = d + e[i];
      const R ratio = q[i + 1] / q_after[i];
      e_after[i] = e[i] * ratio;
      d = d * ratio - tau;
    }
    q_after[m] = end_ = d;
    least_ = std::min(least_before_, d);
    return least_ >= 0 && std::isfinite(d) && std::isfinite(least_before_);
  }

  /// About the least value: that of the last two rows, less what the row before
  /// them can take from it.
  R next_shift(int64_t m) {
    if (!(least_ > 0)) return 0;
    R tau = 0;
    if (end_ <= least_) {
      const R a = q(m - 1) + e(m - 1), off = e(m - 1) * q(m);
      const R apart = a - q(m);
      const R value =
          2 * q(m - 1) * q(m) / (a + q(m) + std::sqrt(apart * apart + 4 * off));
      const R up = a - value;
      const R residual = e(m - 2) * q(m - 1) * (off / (off + up * up));
      const R gap = least_before_ - value;
      R less = std::sqrt(residual);
      if (gap > 0) less = std::min(less, residual / gap);
      tau = value - less;
    }
    if (!(tau > 0)) {
      grow_ += (1 - grow_) / 3;
      tau = grow_ * least_;
    } else {
      grow_ = 0;
    }
    return std::min(tau, least_ * (1 - 4 * kEps));
  }

  std::vector<R> q_, e_, q_after_, e_after_;
  // Figures of the last sweep: its least quotient, that before the end, the
  // end.
  R least_ = 0, least_before_ = 0, end_ = 0, grow_ = 0;
  /// Where the segment ended that they are of.
  int64_t known_ = -1;
};

}  // namespace

template <class R>
bool bidiagonal_values(int64_t n, const R* d, const R* e, R* values) {
  return n == 0 || Quotients<R>(n, d, e).solve(values);
}

template bool bidiagonal_values(int64_t, const float*, const float*, float*);
template bool bidiagonal_values(int64_t, const double*, const double*, double*);

}  // namespace hotaru::cpu
