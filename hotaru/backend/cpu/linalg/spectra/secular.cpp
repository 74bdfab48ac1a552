#include "hotaru/backend/cpu/linalg/spectra/secular.h"

#include <algorithm>
#include <limits>

#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr int kMostSteps = 120;
// Poles times roots that pay for a thread.
constexpr int64_t kWork = 1 << 14;

/// The root of c t^2 - a t + b that lies between two poles, or if `beyond`
/// above both.
template <class R>
R quadratic(R c, R a, R b, bool beyond) {
  const R root = std::sqrt(std::abs(a * a - 4 * b * c));
  if (beyond) return a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
  return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

/// Inside of (low, high), of which one may be 0: near 0 by magnitude.
template <class R>
R between(R low, R high) {
  const R small = std::min(std::abs(low), std::abs(high));
  const R large = std::max(std::abs(low), std::abs(high));
  if (large <= 4 * small) return low + (high - low) / 2;
  const R size = small > 0 ? std::sqrt(small) * std::sqrt(large) : large / 16;
  return high > 0 ? size : -size;
}

/// The offset after x, or x^2 of squares, grew by `step`.
template <class R>
R moved(const SecularPoint<R>& at, R step) {
  if (!at.squares) return at.offset + step;
  const R x = at.origin + at.offset;
  return at.offset + step / (x + std::sqrt(std::max(x * x + step, R(0))));
}

/// Poles that one step of the iteration looks at.
template <class R>
struct Poles {
  R near, far;  // differences
  R weight;     // z^2 of the near one
  bool beyond;  // both are below
};

/// The next step: of the function that has the near pole as it is, another one
/// at the far pole and a constant, and the same value and slope (R.-C. Li,
/// "Solving secular equations stably and efficiently", 1993).
template <class R>
R step_from(const Poles<R>& p, R value, R slope) {
  const R c =
      value - p.far * slope + p.weight * ((p.far - p.near) / p.near) / p.near;
  const R a = (p.near + p.far) * value - p.near * p.far * slope;
  const R b = p.near * p.far * value;
  const R step = quadratic(c, a, b, p.beyond);
  return step * value < 0 ? step : -value / slope;
}

}  // namespace

template <class R>
SecularEquation<R>::SecularEquation(int64_t n, const R* d, const R* z, R rho,
                                    bool squares)
    : n_(n),
      d_(d),
      given_(z),
      inverse_(1 / rho),
      length_(0),
      squares_(squares),
      roots_(size_t(n)) {
  for (int64_t i = 0; i < n; ++i) length_ += z[i] * z[i];
  length_ *= rho;
  parallel_for(0, n, kWork / n + 1, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) roots_[size_t(j)] = solve(j);
  });
  rebuild();
}

template <class R>
R SecularEquation<R>::gap(int64_t from, int64_t to) const {
  const R near = d_[to] - d_[from];
  return squares_ ? near * (d_[to] + d_[from]) : near;
}

template <class R>
SecularPoint<R> SecularEquation<R>::solve(int64_t j) const {
  constexpr R kEps = std::numeric_limits<R>::epsilon();
  const auto& sums_at = table<LineKernels<R>>().secular_sums;
  const bool last = j + 1 == n_;
  SecularPoint<R> at{d_[j], R(0), squares_};
  R low = 0, high = last ? moved(at, length_) : d_[j + 1] - d_[j];
  if (n_ == 1) return {d_[0], high, squares_};
  if (last) high *= 1 + 4 * kEps;  // length_ is rounded

  // In the middle: which pole is nearer, and what the other poles add there.
  at.offset = high / 2;
  const int64_t left = last ? j - 1 : j, right = left + 1;
  const R left_weight = given_[left] * given_[left];
  const R right_weight = given_[right] * given_[right];
  const R middle = inverse_ + sums_at(n_, d_, given_, at).value;
  const R others = middle - left_weight / at.difference(d_[left]) -
                   right_weight / at.difference(d_[right]);
  const bool near_right = last || middle < 0;
  if (!last && near_right) {
    low = at.offset - high;
    high = 0;
    at.origin = d_[right];
  } else {
    (middle < 0 ? low : high) = at.offset;
  }
  const R width = gap(left, right);
  const R far = near_right ? -width : width;
  at.offset = 0;
  at.offset = moved(
      at, quadratic(others, others * far + left_weight + right_weight,
                    near_right ? right_weight * far : left_weight * far, last));

  R before = std::numeric_limits<R>::max();
  for (int step = 0; step < kMostSteps; ++step) {
    if (!(at.offset > low && at.offset < high)) at.offset = between(low, high);
    const SecularSums<R> sums = sums_at(n_, d_, given_, at);
    const R value = inverse_ + sums.value;
    const R near = at.difference(at.origin);
    if (std::abs(value) <=
        kEps * (8 * sums.magnitude + inverse_ + std::abs(near) * sums.slope))
      break;
    (value < 0 ? low : high) = at.offset;
    if (high - low <= 2 * kEps * std::max(std::abs(low), std::abs(high))) break;
    const Poles<R> poles{near, at.difference(d_[near_right ? left : right]),
                         near_right ? right_weight : left_weight, last};
    const R next = moved(at, step_from(poles, value, sums.slope));
    const bool slow = step > 2 && std::abs(value) > before / 4;
    before = std::abs(value);
    if (next == at.offset && !slow) break;
    at.offset = slow ? between(low, high) : next;
  }
  return at;
}

/// Loewner's formula: |z_i|^2 is the product of the differences of the roots
/// from d_i over that of the other poles from it.
template <class R>
void SecularEquation<R>::rebuild() {
  z_.assign(size_t(n_), R(1));
  const auto& ratios = table<LineKernels<R>>().secular_ratios;
  parallel_for(0, n_, kWork / n_ + 1, [&](int64_t begin, int64_t end) {
    for (int64_t j = 0; j < n_; ++j) {
      const SecularPoint<R>& at = root(j);
      const int64_t below = std::min(j, end), above = std::max(j + 1, begin);
      if (begin < below)
        ratios(below - begin, d_ + begin, at, d_[j], z_.data() + begin);
      if (above < end)
        ratios(end - above, d_ + above, at, d_[j], z_.data() + above);
      if (begin <= j && j < end) z_[size_t(j)] *= at.difference(d_[j]);
    }
    for (int64_t i = begin; i < end; ++i) {
      R& z = z_[size_t(i)];
      z = std::copysign(std::sqrt(std::abs(z)), given_[i]);
    }
  });
}

template <class R>
R SecularEquation<R>::vector(int64_t j, R* u) const {
  return table<LineKernels<R>>().secular_vector(n_, d_, z_.data(), root(j), u);
}

template class SecularEquation<float>;
template class SecularEquation<double>;

}  // namespace hotaru::cpu
