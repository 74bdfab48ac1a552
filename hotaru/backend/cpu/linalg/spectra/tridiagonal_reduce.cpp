// The reduction to tridiagonal form by panels of reflections, whose updates are
// one product of matrices (J. Dongarra, S. Hammarling and D. Sorensen, "Block
// reduction of matrices to condensed forms for eigenvalue computations", 1989).
#include <algorithm>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/linalg/reflectors.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/tridiagonal.h"
#include "hotaru/backend/cpu/linalg/vectors.h"
#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kPanel = 32;
/// Rows of the triangle updated together; what lies left of it is in vain.
constexpr int64_t kUpdateRows = 96;

/// Reflections j to j + w of a; what they change right of and below them is
/// A - V W^H - W V^H, whose W's columns are rows of `w` [width, n].
template <class T>
class Panel {
 public:
  Panel(int64_t n, T* a)
      : n_(n),
        a_(a),
        left_(size_t(2 * kPanel * n)),
        right_(left_.size()),
        factors_(2 * kPanel) {}

  void reduce(int64_t first, int64_t width, Real<T>* d, Real<T>* e, T* taus) {
    for (int64_t c = 0; c < width; ++c) {
      const int64_t j = first + c;
      T* row = a_ + j * n_ + j;
      bring_up_to_date(first, c, row);
      d[j] = std::real(row[0]);
      ++row;
      conjugate_all(n_ - j - 1, row);
      taus[j] = reflector(n_ - j - 1, row, 1);
      e[j] = std::real(row[0]);
      row[0] = T(1);
      multiply(first, c, taus[j]);
    }
    update(first, width);
  }

 private:
  T* w(int64_t c) { return left_.data() + (kPanel + c) * n_; }

  /// Row j = first + c from its diagonal on.
  void bring_up_to_date(int64_t first, int64_t c, T* row) {
    const int64_t j = first + c;
    for (int64_t k = 0; k < c; ++k) {
      factors_[size_t(k)] = -a_[(first + k) * n_ + j];
      factors_[size_t(kPanel + k)] = -w(k)[j];
    }
    add_rows(c, n_ - j, w(0) + j, n_, factors_.data(), row, true);
    add_rows(c, n_ - j, a_ + first * n_ + j, n_, factors_.data() + kPanel, row,
             true);
  }

  /// Column c of W.
  void multiply(int64_t first, int64_t c, T tau) {
    const int64_t j = first + c, count = n_ - j - 1;
    const T* v = a_ + j * n_ + j + 1;
    const T* vs = a_ + first * n_ + j + 1;
    T* y = w(c) + j + 1;
    table<ProductKernels<T>>().hermitian_times(count, a_ + (j + 1) * (n_ + 1),
                                               n_, v, y);
    T *of_w = factors_.data(), *of_v = of_w + kPanel;
    rows_times(c, count, w(0) + j + 1, n_, v, of_w, true);
    rows_times(c, count, vs, n_, v, of_v, true);
    for (int64_t k = 0; k < c; ++k) of_w[k] = -of_w[k], of_v[k] = -of_v[k];
    add_rows(c, count, vs, n_, of_w, y);
    add_rows(c, count, w(0) + j + 1, n_, of_v, y);
    for (int64_t i = 0; i < count; ++i) y[i] = product(tau, y[i]);
    const T half = tau * dot(count, y, v) / Real<T>(-2);
    add_multiple(count, half, v, y);
  }

  /// The triangle below the panel, by both products at once.
  void update(int64_t first, int64_t width) {
    const int64_t from = first + width;
    const auto left = [&](int64_t c) { return left_.data() + c * n_; };
    for (int64_t c = 0; c < width; ++c) {
      T* v = a_ + (first + c) * n_;
      std::copy(v + from, v + n_, left(c) + from);
      std::copy(w(c) + from, w(c) + n_, left(width + c) + from);
      T *of_w = right_.data() + c * n_, *of_v = of_w + width * n_;
      for (int64_t i = from; i < n_; ++i) {
        of_w[i] = conjugate(left(width + c)[i]);
        of_v[i] = conjugate(v[i]);
      }
    }
    for (int64_t i = from; i < n_; i += kUpdateRows)
      gemm<T>(std::min(kUpdateRows, n_ - i), n_ - i, 2 * width, T(-1),
              {left(0) + i, 1, n_}, {right_.data() + i, n_, 1}, T(1),
              a_ + i * (n_ + 1), n_);
  }

  int64_t n_;
  T* a_;
  // V and below it W, by rows; then conj(W) and conj(V).
  std::vector<T> left_, right_;
  std::vector<T> factors_;
};

}  // namespace

template <class T>
void tridiagonalize(int64_t n, T* a, Real<T>* d, Real<T>* e, T* taus) {
  Panel<T> panel(n, a);
  for (int64_t j = 0; j + 1 < n; j += kPanel)
    panel.reduce(j, std::min(kPanel, n - 1 - j), d, e, taus);
  if (n > 0) d[n - 1] = std::real(a[n * n - 1]);
}

template <class T>
void apply_tridiagonal_basis(int64_t n, const T* a, const T* taus,
                             int64_t columns, T* c) {
  if (n > 1)
    apply_reflections(n - 1, n - 1, {a + 1, 1, n}, taus, columns, c + columns,
                      columns);
}

#define HOTARU_INSTANTIATE(T) \
  template void tridiagonalize(int64_t, T*, Real<T>*, Real<T>*, T*); \
  template void apply_tridiagonal_basis(int64_t, const T*, const T*, int64_t, \
                                        T*);
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
