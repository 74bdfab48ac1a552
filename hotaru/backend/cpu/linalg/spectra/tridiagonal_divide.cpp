// Divide and conquer: T is two tridiagonal matrices and rho v v^T. What the two
// have in common with T is deflated; the others are merged by a secular
// equation, whose vectors multiply theirs (M. Gu and S. Eisenstat, 1995).
#include <algorithm>
#include <limits>
#include <numeric>

#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/grouped_rows.h"
#include "hotaru/backend/cpu/linalg/spectra/secular.h"
#include "hotaru/backend/cpu/linalg/spectra/tridiagonal.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kLeaf = 32;

}  // namespace

/// Two neighbouring blocks, at rows and columns `begin`, that become one.
template <class R>
struct TridiagonalDivide<R>::Merge {
  int64_t begin, first, second;  // sizes
  R rho;
  std::vector<R> z = {};         // by place
  std::vector<Part> parts = {};  // by place
  // Places by ascending value: what the equation is about, and what not.
  std::vector<int64_t> kept = {}, deflated = {};

  int64_t size() const { return first + second; }
};

template <class R>
bool TridiagonalDivide<R>::solve(int64_t n, R* d, R* e) {
  n_ = n;
  d_ = d;
  e_ = e;
  order_.resize(size_t(n));
  q_.assign(size_t(n * n), R(0));
  for (int64_t i = 0; i < n; ++i) q_[size_t(i * (n + 1))] = 1;
  if (n > kLeaf) {
    packed_.resize(size_t(n * n));
    turned_.resize(size_t(n * n));
  }
  return solve_block(0, n);
}

template <class R>
void TridiagonalDivide<R>::sort(int64_t begin, int64_t n) {
  const auto from = order_.begin() + begin;
  std::iota(from, from + n, begin);
  std::stable_sort(from, from + n,
                   [&](int64_t i, int64_t j) { return d_[i] < d_[j]; });
}

template <class R>
bool TridiagonalDivide<R>::solve_block(int64_t begin, int64_t n) {
  if (n <= kLeaf) {
    R* q = q_.data() + begin * (n_ + 1);
    const bool found =
        tridiagonal_rotations(n, d_ + begin, e_ + begin, n, q, n_);
    sort(begin, n);
    return found;
  }
  const int64_t first = n / 2, middle = begin + first;
  const R rho = e_[middle - 1];
  d_[middle - 1] -= std::abs(rho);
  d_[middle] -= std::abs(rho);
  if (!solve_block(begin, first) || !solve_block(middle, n - first))
    return false;
  merge(begin, first, n - first, rho);
  return true;
}

template <class R>
void TridiagonalDivide<R>::merge(int64_t begin, int64_t first, int64_t second,
                                 R rho) {
  Merge m{begin, first, second, 2 * std::abs(rho)};
  const int64_t n = m.size();
  // v, the rows that meet in the middle, of length 1.
  m.z.resize(size_t(n));
  m.parts.resize(size_t(n));
  const R* column = q_.data() + begin * (n_ + 1) + first;
  const R scale = std::sqrt(R(0.5));
  for (int64_t i = 0; i < n; ++i) {
    const bool upper = i < first;
    const R z = column[i * n_ - (upper ? 1 : 0)] * scale;
    m.z[size_t(i)] = !upper && rho < 0 ? -z : z;
    m.parts[size_t(i)] = upper ? Part::kFirst : Part::kSecond;
  }
  deflate(m);
  if (!m.kept.empty()) multiply(m);
  sort(begin, n);
}

/// Takes out what has next to no part in v, and one of each two values that are
/// next to equal, after a rotation that takes its part away.
template <class R>
void TridiagonalDivide<R>::deflate(Merge& m) {
  const int64_t n = m.size();
  R* d = d_ + m.begin;
  sort(m.begin, n);
  R largest = 0;
  for (int64_t i = 0; i < n; ++i)
    largest = std::max({largest, std::abs(d[i]), std::abs(m.z[size_t(i)])});
  const R least = 8 * std::numeric_limits<R>::epsilon() * largest;
  int64_t last = -1;  // the last one kept, unless the next is its equal
  for (int64_t place = 0; place < n; ++place) {
    const int64_t i = order_[size_t(m.begin + place)] - m.begin;
    R& z = m.z[size_t(i)];
    if (m.rho * std::abs(z) <= least) {
      m.deflated.push_back(i);
      continue;
    }
    if (last >= 0) {
      const R other = m.z[size_t(last)], length = std::hypot(z, other);
      const R c = z / length, s = -other / length, gap = d[i] - d[last];
      if (std::abs(gap * c * s) <= least) {
        z = length;
        table<LineKernels<R>>().rotate_rows(
            1, n, q_.data() + (m.begin + last) * n_ + m.begin, (i - last) * n_,
            &c, &s, false);
        const R low = d[last] * c * c + d[i] * s * s;
        d[i] = d[last] * s * s + d[i] * c * c;
        d[last] = low;
        Part& part = m.parts[size_t(i)];
        if (part != m.parts[size_t(last)]) part = Part::kBoth;
        m.deflated.push_back(last);
        last = i;
        continue;
      }
      m.kept.push_back(last);
    }
    last = i;
  }
  if (last >= 0) m.kept.push_back(last);
}

template <class R>
void TridiagonalDivide<R>::multiply(const Merge& m) {
  const int64_t k = int64_t(m.kept.size());
  std::vector<R> d(static_cast<size_t>(k)), z(d), values;
  for (int64_t j = 0; j < k; ++j) {
    const int64_t i = m.kept[size_t(j)];
    d[size_t(j)] = d_[m.begin + i];
    z[size_t(j)] = m.z[size_t(i)];
  }
  for (const int64_t i : m.deflated) values.push_back(d_[m.begin + i]);
  const SecularEquation<R> equation(k, d.data(), z.data(), m.rho, false);
  const GroupedRows rows(m.parts, m.kept, m.deflated);
  parallel_for(0, k, (1 << 15) / k + 1, [&](int64_t begin, int64_t end) {
    std::vector<R> u(static_cast<size_t>(k));
    for (int64_t j = begin; j < end; ++j) {
      const R scale = 1 / std::sqrt(equation.vector(j, u.data()));
      R* row = turned_.data() + j * k;
      for (int64_t i = 0; i < k; ++i) row[rows.place(i)] = u[size_t(i)] * scale;
      d_[m.begin + j] = equation.value(j);
    }
  });
  std::copy(values.begin(), values.end(), d_ + m.begin + k);
  rows.combine(turned_.data(), m.first, m.second,
               q_.data() + m.begin * (n_ + 1), n_, packed_.data());
}

template <class R>
template <class T>
void TridiagonalDivide<R>::copy_vectors(T* to) const {
  copy_columns(n_, order_.data(), q_.data(), to, n_);
}

template class TridiagonalDivide<float>;
template class TridiagonalDivide<double>;
template void TridiagonalDivide<float>::copy_vectors(float*) const;
template void TridiagonalDivide<double>::copy_vectors(double*) const;
template void TridiagonalDivide<float>::copy_vectors(
    std::complex<float>*) const;
template void TridiagonalDivide<double>::copy_vectors(
    std::complex<double>*) const;

}  // namespace hotaru::cpu
