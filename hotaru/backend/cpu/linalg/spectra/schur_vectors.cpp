// Eigenvectors of (quasi-)triangular matrices by back substitution, several at
// a time and by blocks of rows, so that most of it is products of matrices (M.
// Gates, A. Haidar and J. Dongarra, "Accelerating computation of eigenvectors
// in the dense nonsymmetric eigenvalue problem", 2014).
#include <algorithm>
#include <limits>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/schur.h"
#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru::cpu {
namespace {

/// Vectors, and rows, that are solved together.
constexpr int64_t kTogether = 32;

/// Substitution for vectors; of a real matrix's, both parts are columns of the
/// same real one.
template <class T>
class Substitution {
  using R = Real<T>;
  using C = std::complex<R>;
  static constexpr int64_t kParts = kIsComplex<T> ? 1 : 2;

 public:
  Substitution(int64_t n, const T* h, const C* values)
      : n_(n), h_(h), values_(values), x_(size_t(n * kTogether * kParts)) {
    R norm = 0;
    for (int64_t i = 0; i < n * n; ++i) norm = std::max(norm, magnitude(h[i]));
    least_ = std::max(
        norm * std::numeric_limits<R>::epsilon(),
        std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon());
  }

  /// The vectors of these eigenvalues, ascending places; rows from `rows()` on
  /// are 0.
  void solve(const std::vector<int64_t>& places) {
    places_ = &places;
    width_ = kParts * int64_t(places.size());
    rows_ = places.back() + 1 + (is_pair(places.back()) ? 1 : 0);
    std::fill_n(x_.data(), rows_ * width_, T(0));
    for (int64_t end = rows_; end > 0;) {
      int64_t begin = std::max<int64_t>(0, end - kTogether);
      if (begin > 0 && is_pair(begin - 1)) --begin;
      solve_rows(begin, end);
      end = begin;
    }
  }

  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }
  const T* x() const { return x_.data(); }

  /// True if rows i and i + 1 are one block on the diagonal.
  bool is_pair(int64_t i) const {
    return i >= 0 && i + 1 < n_ && h_[(i + 1) * n_ + i] != T(0);
  }

 private:
  C get(int64_t i, int64_t c) const {
    const T* row = x_.data() + i * width_;
    if constexpr (kIsComplex<T>)
      return row[c];
    else
      return C(row[c], row[c + width_ / 2]);
  }
  void set(int64_t i, int64_t c, C value) {
    T* row = x_.data() + i * width_;
    if constexpr (kIsComplex<T>) {
      row[c] = value;
    } else {
      row[c] = value.real();
      row[c + width_ / 2] = value.imag();
    }
  }

  void solve_rows(int64_t begin, int64_t end) {
    gemm<T>(end - begin, width_, rows_ - end, T(-1),
            {h_ + begin * n_ + end, n_, 1},
            {x_.data() + end * width_, width_, 1}, T(0),
            x_.data() + begin * width_, width_);
    for (int64_t i = end - 1; i >= begin; --i) {
      const bool pair = is_pair(i - 1);
      if (pair) --i;
      const int64_t count = pair ? 2 : 1;
      for (int64_t r = i; r < i + count; ++r)
        for (int64_t j = i + count; j < end; ++j) {
          const T factor = h_[r * n_ + j];
          const T* from = x_.data() + j * width_;
          T* to = x_.data() + r * width_;
          for (int64_t c = 0; c < width_; ++c)
            to[c] -= product(factor, from[c]);
        }
      for (int64_t c = 0; c < int64_t(places_->size()); ++c) {
        const int64_t own = (*places_)[size_t(c)];
        if (own < i) continue;
        if (own == i)
          start(i, pair, c);
        else if (pair)
          solve_two(i, c);
        else
          set(i, c, quotient(get(i, c), h_[i * (n_ + 1)] - values_[own]));
        shrink(begin, i, count, c);
      }
    }
  }

  C quotient(C x, C by) const {
    return x / (magnitude(by) < least_ ? C(least_) : by);
  }

  /// The eigenvector of its own block.
  void start(int64_t i, bool pair, int64_t c) {
    if (!pair) return set(i, c, C(1));
    const T* corner = h_ + i * (n_ + 1);
    const C value = values_[i];
    const R size =
        std::max(magnitude(value - C(corner[n_ + 1])), magnitude(corner[n_]));
    set(i, c, (value - C(corner[n_ + 1])) / size);
    set(i + 1, c, C(corner[n_]) / size);
  }

  /// Two equations: the one with the larger factor is taken from the other.
  void solve_two(int64_t i, int64_t c) {
    const T* corner = h_ + i * (n_ + 1);
    const C value = values_[(*places_)[size_t(c)]];
    C a = C(corner[0]) - value, b = corner[1], x = get(i, c);
    C p = corner[n_], q = C(corner[n_ + 1]) - value, y = get(i + 1, c);
    if (magnitude(p) > magnitude(a)) {
      std::swap(a, p);
      std::swap(b, q);
      std::swap(x, y);
    }
    const C factor = quotient(p, a);
    const C second = quotient(y - product(factor, x), q - product(factor, b));
    set(i + 1, c, second);
    set(i, c, quotient(x - product(b, second), a));
  }

  /// Keeps a vector in range: what was found and what is to be solved for.
  void shrink(int64_t begin, int64_t i, int64_t count, int64_t c) {
    constexpr R kMost = R(1e10);
    R size = magnitude(get(i, c));
    if (count == 2) size = std::max(size, magnitude(get(i + 1, c)));
    if (!(size > kMost)) return;
    for (int64_t r = begin; r < rows_; ++r) set(r, c, get(r, c) / size);
  }

  int64_t n_, rows_ = 0, width_ = 0;
  const T* h_;
  const C* values_;
  R least_;
  const std::vector<int64_t>* places_ = nullptr;
  std::vector<T> x_;
};

}  // namespace

template <class T>
void schur_vectors(int64_t n, const T* h, const T* z,
                   const std::complex<Real<T>>* values,
                   std::complex<Real<T>>* vectors) {
  using C = std::complex<Real<T>>;
  Substitution<T> substitution(n, h, values);
  std::vector<T> found(size_t(n * kTogether * 2));
  for (int64_t next = 0; next < n;) {
    std::vector<int64_t> places;
    for (; next < n && int64_t(places.size()) < kTogether; ++next) {
      places.push_back(next);
      if (substitution.is_pair(next)) ++next;
    }
    substitution.solve(places);
    const int64_t width = substitution.width();
    gemm<T>(n, width, substitution.rows(), T(1), {z, n, 1},
            {substitution.x(), width, 1}, T(0), found.data(), width);
    for (int64_t i = 0; i < n; ++i)
      for (size_t c = 0; c < places.size(); ++c) {
        C* to = vectors + i * n + places[c];
        const T* from = found.data() + i * width + int64_t(c);
        if constexpr (kIsComplex<T>) {
          *to = *from;
        } else {
          *to = C(from[0], from[width / 2]);
          if (substitution.is_pair(places[c])) to[1] = std::conj(*to);
        }
      }
  }
}

#define HOTARU_INSTANTIATE(T) \
  template void schur_vectors(int64_t, const T*, const T*, \
                              const std::complex<Real<T>>*, \
                              std::complex<Real<T>>*);
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
