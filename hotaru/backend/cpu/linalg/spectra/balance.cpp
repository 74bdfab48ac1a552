// Balancing (B. Parlett and C. Reinsch, "Balancing a matrix for calculation of
// eigenvalues and eigenvectors", 1969), by lengths instead of sums (R. James,
// J. Langou and B. Lowery, "On matrix balancing and eigenvector computation",
// 2014).
#include <algorithm>
#include <limits>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/linalg/spectra/schur.h"

namespace hotaru::cpu {

template <class T>
Balance<T>::Balance(int64_t n, T* a)
    : n_(n), high_(n), scales_(size_t(n), Real<T>(1)) {
  while (high_ > 0 && isolate_row(a)) {
  }
  while (low_ < high_ && isolate_column(a)) {
  }
  scale(a);
}

template <class T>
void Balance<T>::exchange(T* a, int64_t i, int64_t j) {
  exchanges_.emplace_back(i, j);
  if (i == j) return;
  std::swap_ranges(a + i * n_, a + (i + 1) * n_, a + j * n_);
  for (int64_t r = 0; r < n_; ++r) std::swap(a[r * n_ + i], a[r * n_ + j]);
}

/// One with zeros but on the diagonal goes to the end.
template <class T>
bool Balance<T>::isolate_row(T* a) {
  for (int64_t i = high_ - 1; i >= 0; --i) {
    const T* row = a + i * n_;
    bool alone = true;
    for (int64_t j = 0; j < high_ && alone; ++j)
      alone = j == i || row[j] == T(0);
    if (!alone) continue;
    exchange(a, i, --high_);
    return true;
  }
  return false;
}

/// One with zeros but on the diagonal goes to the beginning.
template <class T>
bool Balance<T>::isolate_column(T* a) {
  for (int64_t j = low_; j < high_; ++j) {
    bool alone = true;
    for (int64_t i = low_; i < high_ && alone; ++i)
      alone = j == i || a[i * n_ + j] == T(0);
    if (!alone) continue;
    exchange(a, j, low_++);
    return true;
  }
  return false;
}

/// By powers of 2, which round nothing.
template <class T>
void Balance<T>::scale(T* a) {
  using R = Real<T>;
  constexpr R kMost = std::numeric_limits<R>::max() / 16, kGain = R(0.95);
  std::vector<R> columns(static_cast<size_t>(n_));
  for (bool again = true; again;) {
    again = false;
    std::fill(columns.begin(), columns.end(), R(0));
    for (int64_t i = low_; i < high_; ++i)
      for (int64_t j = low_; j < high_; ++j)
        columns[size_t(j)] += std::norm(a[i * n_ + j]);
    for (int64_t i = low_; i < high_; ++i) {
      R row = 0;
      for (int64_t j = low_; j < high_; ++j) row += std::norm(a[i * n_ + j]);
      R column = 0;
      if (again)  // others have changed it
        for (int64_t j = low_; j < high_; ++j)
          column += std::norm(a[j * n_ + i]);
      else
        column = columns[size_t(i)];
      row = std::sqrt(row);
      column = std::sqrt(column);
      if (!(row > 0) || !(column > 0)) continue;
      const R sum = row + column;
      R factor = 1;
      for (; column < row / 2 && factor < kMost / 4; factor *= 2)
        column *= 2, row /= 2;
      for (; column >= row * 2 && factor > 4 / kMost; factor /= 2)
        column /= 2, row *= 2;
      R& total = scales_[size_t(i)];
      if (factor == 1 || column + row >= kGain * sum ||
          !(total * factor < kMost && total * factor > 1 / kMost))
        continue;
      total *= factor;
      again = true;
      for (int64_t j = 0; j < n_; ++j) a[i * n_ + j] /= factor;
      for (int64_t j = 0; j < n_; ++j) a[j * n_ + i] *= factor;
    }
  }
}

template <class T>
template <class C>
void Balance<T>::restore(C* v) const {
  for (int64_t i = low_; i < high_; ++i)
    if (scales_[size_t(i)] != 1)
      for (int64_t j = 0; j < n_; ++j) v[i * n_ + j] *= scales_[size_t(i)];
  for (auto at = exchanges_.rbegin(); at != exchanges_.rend(); ++at)
    if (at->first != at->second)
      std::swap_ranges(v + at->first * n_, v + (at->first + 1) * n_,
                       v + at->second * n_);
}

#define HOTARU_INSTANTIATE(T) \
  template class Balance<T>; \
  template void Balance<T>::restore(std::complex<Real<T>>*) const;
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
