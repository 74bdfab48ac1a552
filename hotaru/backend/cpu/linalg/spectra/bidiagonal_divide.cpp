// Divide and conquer: a bidiagonal matrix is one row and two bidiagonal ones,
// which have a column more than rows. With their singular vectors the row
// becomes z, above the diagonal of their singular values; what has next to no
// part in z is deflated, the values of the others are the roots of a secular
// equation (M. Gu and S. Eisenstat, "A divide-and-conquer algorithm for the
// bidiagonal SVD", 1995).
#include <algorithm>
#include <limits>
#include <numeric>

#include "hotaru/backend/cpu/linalg/spectra/bidiagonal.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/grouped_rows.h"
#include "hotaru/backend/cpu/linalg/spectra/secular.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kLeaf = 32;

}  // namespace

/// The blocks right of `begin` and below, of `first` rows, then the row between
/// and `second` rows; columns are one more each, but the last block's only if
/// `extra`.
template <class R>
struct BidiagonalDivide<R>::Merge {
  int64_t begin, first, second;
  bool extra;
  std::vector<R> z = {};         // by place
  std::vector<Part> parts = {};  // by place
  // Places by ascending value, the row between first.
  std::vector<int64_t> kept = {}, deflated = {};

  int64_t rows() const { return first + 1 + second; }
  int64_t columns() const { return rows() + (extra ? 1 : 0); }
};

template <class R>
bool BidiagonalDivide<R>::solve(int64_t n, R* d, R* e) {
  n_ = n;
  d_ = d;
  e_ = e;
  ut_.assign(size_t(n * n), R(0));
  for (int64_t i = 0; i < n; ++i) ut_[size_t(i * (n + 1))] = 1;
  vt_ = ut_;
  if (n > kLeaf)
    for (auto* room : {&room_, &of_u_, &of_v_}) room->resize(size_t(n * n));
  // Beside numbers up to 1 these are nothing, and their products out of range.
  constexpr R kTiny =
      std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  for (int64_t i = 0; i < n; ++i) {
    if (std::abs(d[i]) < kTiny) d[i] = 0;
    if (i + 1 < n && std::abs(e[i]) < kTiny) e[i] = 0;
  }
  if (!solve_block(0, n, false)) return false;
  order_.resize(size_t(n));
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int64_t i, int64_t j) { return d_[i] > d_[j]; });
  return true;
}

template <class R>
bool BidiagonalDivide<R>::solve_block(int64_t begin, int64_t n, bool extra) {
  if (n <= kLeaf)
    return bidiagonal_rotations(n, extra, d_ + begin, e_ + begin,
                                ut_.data() + begin * (n_ + 1),
                                vt_.data() + begin * (n_ + 1), n_);
  const int64_t first = n / 2, middle = begin + first;
  const R alpha = d_[middle], beta = e_[middle];
  if (!solve_block(begin, first, true) ||
      !solve_block(middle + 1, n - first - 1, extra))
    return false;
  merge(begin, first, n - first - 1, extra, alpha, beta);
  return true;
}

/// Rows i and j of a block's `columns` columns, from the first of all on.
template <class R>
void BidiagonalDivide<R>::rotate(int64_t i, int64_t j, int64_t columns, R c,
                                 R s, R* q) {
  table<LineKernels<R>>().rotate_rows(1, columns, q + i * n_, (j - i) * n_, &c,
                                      &s, false);
}

template <class R>
void BidiagonalDivide<R>::merge(int64_t begin, int64_t first, int64_t second,
                                bool extra, R alpha, R beta) {
  Merge m{begin, first, second, extra};
  const int64_t rows = m.rows();
  m.z.resize(size_t(rows));
  m.parts.assign(size_t(rows), Part::kFirst);
  R* vt = vt_.data() + begin * (n_ + 1);
  R *d = d_ + begin, *z = m.z.data();
  for (int64_t i = 0; i <= first; ++i) z[i] = alpha * vt[i * n_ + first];
  for (int64_t i = first + 1; i < rows; ++i) {
    z[i] = beta * vt[i * n_ + first + 1];
    m.parts[size_t(i)] = Part::kSecond;
  }
  d[first] = 0;
  if (extra) {  // of the two rows without a value, z has a part in one
    const R other = beta * vt[rows * n_ + first + 1];
    const Rotation<R> turn(z[first], other);
    if (other != 0) {
      rotate(first, rows, m.columns(), turn.c, turn.s, vt);
      z[first] = turn.r;
      m.parts[size_t(first)] = Part::kBoth;
    }
  }
  R largest = std::max(std::abs(alpha), std::abs(beta));
  for (int64_t i = 0; i < rows; ++i) largest = std::max(largest, d[i]);
  const R least = 8 * std::numeric_limits<R>::epsilon() * largest;
  if (least == 0) return;
  deflate(m, least);
  multiply(m);
}

/// Takes out what has next to no part in z, and one of each two values that are
/// next to equal, after a rotation that takes its part away.
template <class R>
void BidiagonalDivide<R>::deflate(Merge& m, R least) {
  R *d = d_ + m.begin, *z = m.z.data();
  R *ut = ut_.data() + m.begin * (n_ + 1),
    *vt = vt_.data() + m.begin * (n_ + 1);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < m.rows(); ++i)
    if (i != m.first) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return d[i] < d[j]; });
  m.kept.push_back(m.first);
  if (std::abs(z[m.first]) <= least)
    z[m.first] = std::copysign(least, z[m.first]);
  int64_t last = -1;  // the last one kept, unless the next is its equal
  for (const int64_t i : order) {
    if (std::abs(z[i]) <= least) {
      m.deflated.push_back(i);
      continue;
    }
    if (last >= 0 && d[i] - d[last] <= least) {
      const Rotation<R> turn(z[i], z[last]);
      z[i] = turn.r;
      rotate(last, i, m.rows(), turn.c, -turn.s, ut);
      rotate(last, i, m.columns(), turn.c, -turn.s, vt);
      if (m.parts[size_t(i)] != m.parts[size_t(last)])
        m.parts[size_t(i)] = Part::kBoth;
      m.deflated.push_back(last);
    } else if (last >= 0) {
      m.kept.push_back(last);
    }
    last = i;
  }
  if (last >= 0) m.kept.push_back(last);
}

template <class R>
void BidiagonalDivide<R>::multiply(const Merge& m) {
  const int64_t k = int64_t(m.kept.size());
  std::vector<R> d(static_cast<size_t>(k)), z(d), values;
  R largest = 0;
  for (int64_t j = 0; j < k; ++j) {
    const int64_t i = m.kept[size_t(j)];
    d[size_t(j)] = d_[m.begin + i];
    z[size_t(j)] = m.z[size_t(i)];
    largest = std::max({largest, d[size_t(j)], std::abs(z[size_t(j)])});
  }
  // Squares are in range of numbers up to 1.
  for (R& x : d) x /= largest;
  for (R& x : z) x /= largest;
  // The first one is 0; the next must differ.
  if (k > 1) d[1] = std::max(d[1], 4 * std::numeric_limits<R>::epsilon());
  for (const int64_t i : m.deflated) values.push_back(d_[m.begin + i]);
  const SecularEquation<R> equation(k, d.data(), z.data(), R(1), true);
  const GroupedRows rows(m.parts, m.kept, m.deflated);
  parallel_for(0, k, (1 << 15) / k + 1, [&](int64_t begin, int64_t end) {
    std::vector<R> v(static_cast<size_t>(k));
    for (int64_t j = begin; j < end; ++j) {
      const R right = 1 / std::sqrt(equation.vector(j, v.data()));
      R sum = 1;
      for (int64_t i = 1; i < k; ++i) {
        const R u = d[size_t(i)] * v[size_t(i)];
        sum += u * u;
      }
      const R left = 1 / std::sqrt(sum);
      R *to_u = of_u_.data() + j * k, *to_v = of_v_.data() + j * k;
      for (int64_t i = 0; i < k; ++i) {
        const R x = v[size_t(i)];
        to_v[rows.place(i)] = x * right;
        to_u[rows.place(i)] = (i == 0 ? R(-1) : d[size_t(i)] * x) * left;
      }
      d_[m.begin + j] = equation.value(j) * largest;
    }
  });
  std::copy(values.begin(), values.end(), d_ + m.begin + k);
  const int64_t at = m.begin * (n_ + 1);
  rows.combine(of_u_.data(), m.first + 1, m.second, ut_.data() + at, n_,
               room_.data());
  rows.combine(of_v_.data(), m.first + 1, m.columns() - m.first - 1,
               vt_.data() + at, n_, room_.data());
}

template <class R>
template <class T>
void BidiagonalDivide<R>::copy_left(T* to, int64_t ld) const {
  copy_columns(n_, order_.data(), ut_.data(), to, ld);
}

template <class R>
template <class T>
void BidiagonalDivide<R>::copy_right(T* to, int64_t ld) const {
  copy_columns(n_, order_.data(), vt_.data(), to, ld);
}

#define HOTARU_INSTANTIATE(R, ...) \
  template void BidiagonalDivide<R>::copy_left(__VA_ARGS__*, int64_t) const; \
  template void BidiagonalDivide<R>::copy_right(__VA_ARGS__*, int64_t) const;
template class BidiagonalDivide<float>;
template class BidiagonalDivide<double>;
HOTARU_INSTANTIATE(float, float)
HOTARU_INSTANTIATE(double, double)
HOTARU_INSTANTIATE(float, std::complex<float>)
HOTARU_INSTANTIATE(double, std::complex<double>)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
