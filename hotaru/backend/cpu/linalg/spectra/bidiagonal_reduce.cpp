// The reduction to bidiagonal form by panels of reflections, whose updates are
// one product of matrices (J. Dongarra, S. Hammarling and D. Sorensen, "Block
// reduction of matrices to condensed forms for eigenvalue computations", 1989).
#include <algorithm>

#include "hotaru/backend/cpu/linalg/reflectors.h"
#include "hotaru/backend/cpu/linalg/spectra/bidiagonal.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/vectors.h"
#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kPanel = 32;

}  // namespace

template <class T>
Bidiagonal<T>::Bidiagonal(int64_t m, int64_t n, T* a, Real<T>* d, Real<T>* e)
    : m_(m),
      n_(n),
      a_(a),
      left_(size_t((n + 2 * kPanel) * m)),
      y_(size_t(2 * kPanel * n)),
      left_taus_(size_t(n)),
      right_taus_(size_t(n)),
      factors_(2 * kPanel) {
  for (int64_t j = 0; j < n; j += kPanel)
    reduce(j, std::min(kPanel, n - j), d, e);
}

/// Until its update, what is right of and below a panel stands for
/// A - V Y^H - X U^H, V and U its reflections' vectors.
template <class T>
void Bidiagonal<T>::reduce(int64_t first, int64_t width, Real<T>* d,
                           Real<T>* e) {
  transpose(m_ - first, width, a_ + first * (n_ + 1), n_, left(first) + first,
            m_, [](T x) { return x; });
  for (int64_t c = 0; c < width; ++c) {
    left_reflection(first, c, d);
    if (first + c + 1 < n_) right_reflection(first, c, e);
  }
  update(first, width);
}

/// Column j = first + c, and its column of Y.
template <class T>
void Bidiagonal<T>::left_reflection(int64_t first, int64_t c, Real<T>* d) {
  const int64_t j = first + c, rows = m_ - j, columns = n_ - j - 1;
  T *of_v = factors_.data(), *of_x = of_v + kPanel;
  T *v = left(j) + j, *vs = left(first) + j, *xs = left(first + kPanel) + j;
  for (int64_t k = 0; k < c; ++k) {
    of_v[k] = -conjugate(y_[size_t(k * n_ + j)]);
    of_x[k] = -conjugate(a_[(first + k) * n_ + j]);
  }
  add_rows(c, rows, vs, m_, of_v, v);
  add_rows(c, rows, xs, m_, of_x, v);
  const T tau = left_taus_[size_t(j)] = reflector(rows, v, 1);
  d[j] = std::real(v[0]);
  v[0] = T(1);

  if (columns == 0) return;
  T* y = y_.data() + c * n_ + j + 1;
  std::fill_n(y, columns, T(0));
  add_rows(rows, columns, a_ + j * n_ + j + 1, n_, v, y, true);
  rows_times(c, rows, vs, m_, v, of_v, true);
  rows_times(c, rows, xs, m_, v, of_x, true);
  for (int64_t k = 0; k < c; ++k) of_v[k] = -of_v[k], of_x[k] = -of_x[k];
  add_rows(c, columns, y_.data() + j + 1, n_, of_v, y);
  add_rows(c, columns, a_ + first * n_ + j + 1, n_, of_x, y);
  for (int64_t i = 0; i < columns; ++i) y[i] = product(tau, y[i]);
}

/// Row j = first + c right of its diagonal, and its column of X.
template <class T>
void Bidiagonal<T>::right_reflection(int64_t first, int64_t c, Real<T>* e) {
  const int64_t j = first + c, rows = m_ - j - 1, columns = n_ - j - 1;
  T *of_y = factors_.data(), *of_u = of_y + kPanel;
  T *u = a_ + j * n_ + j + 1, *us = a_ + first * n_ + j + 1;
  const T* ys = y_.data() + j + 1;
  for (int64_t k = 0; k <= c; ++k) of_y[k] = -left(first + k)[j];
  for (int64_t k = 0; k < c; ++k) of_u[k] = -left(first + kPanel + k)[j];
  add_rows(c + 1, columns, ys, n_, of_y, u, true);
  add_rows(c, columns, us, n_, of_u, u, true);
  conjugate_all(columns, u);
  const T tau = right_taus_[size_t(j)] = reflector(columns, u, 1);
  e[j] = std::real(u[0]);
  u[0] = T(1);

  T *x = left(first + kPanel + c) + j + 1, *vs = left(first) + j + 1;
  rows_times(rows, columns, a_ + (j + 1) * (n_ + 1), n_, u, x);
  rows_times(c + 1, columns, ys, n_, u, of_y, true);
  rows_times(c, columns, us, n_, u, of_u, true);
  for (int64_t k = 0; k <= c; ++k) of_y[k] = -of_y[k];
  for (int64_t k = 0; k < c; ++k) of_u[k] = -of_u[k];
  add_rows(c + 1, rows, vs, m_, of_y, x);
  add_rows(c, rows, left(first + kPanel) + j + 1, m_, of_u, x);
  for (int64_t i = 0; i < rows; ++i) x[i] = product(tau, x[i]);
}

/// Both products at once: X's columns follow V's.
template <class T>
void Bidiagonal<T>::update(int64_t first, int64_t width) {
  const int64_t from = first + width;
  if (from == n_) return;
  for (int64_t c = 0; c < width; ++c) {
    T *y = y_.data() + c * n_, *u = y + width * n_;
    const T* row = a_ + (first + c) * n_;
    std::copy(row + from, row + n_, u + from);
    conjugate_all(n_ - from, y + from);
    conjugate_all(n_ - from, u + from);
  }
  gemm<T>(m_ - from, n_ - from, 2 * width, T(-1), {left(first) + from, 1, m_},
          {y_.data() + from, n_, 1}, T(1), a_ + from * (n_ + 1), n_);
}

template <class T>
void Bidiagonal<T>::apply_left(int64_t columns, T* c, int64_t ldc) const {
  apply_reflections(m_, n_, {left_.data(), 1, m_}, left_taus_.data(), columns,
                    c, ldc);
}

template <class T>
void Bidiagonal<T>::apply_right(int64_t columns, T* c, int64_t ldc) const {
  if (n_ > 1)
    apply_reflections(n_ - 1, n_ - 1, {a_ + 1, 1, n_}, right_taus_.data(),
                      columns, c + ldc, ldc);
}

template class Bidiagonal<float>;
template class Bidiagonal<double>;
template class Bidiagonal<std::complex<float>>;
template class Bidiagonal<std::complex<double>>;

}  // namespace hotaru::cpu
