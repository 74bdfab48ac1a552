// The reduction to Hessenberg form by panels of reflections, whose updates are
// products of matrices (G. Quintana-Orti and R. van de Geijn, "Improving the
// performance of reduction to Hessenberg form", 2006).
#include <algorithm>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/linalg/reflectors.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/schur.h"
#include "hotaru/backend/cpu/linalg/vectors.h"
#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kPanel = 32;

/// Reflections `first` to first + width; rows and columns of a from `high` on
/// are not theirs, but for the columns of rows above.
template <class T>
class Panels {
 public:
  Panels(int64_t n, int64_t low, int64_t high, T* a)
      : n_(n),
        low_(low),
        high_(high),
        a_(a),
        v_(size_t((high - low) * n)),
        y_(size_t(kPanel * n)),
        t_(kPanel * kPanel),
        factors_(2 * kPanel),
        taus_(size_t(high - low)) {}

  void reduce(int64_t first, int64_t width) {
    transpose(high_ - first - 1, width, a_ + (first + 1) * n_ + first, n_,
              v(first) + first + 1, n_, [](T x) { return x; });
    for (int64_t c = 0; c < width; ++c) column(first, c);
    update(first, width);
  }

  /// z [n, n] becomes the product of the reflections.
  void product_of_all(T* z) {
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < n_; ++j) z[i * n_ + j] = T(i == j);
    const int64_t count = high_ - low_ - 2;
    if (count <= 0) return;
    apply_reflections(high_ - low_ - 1, count, {v(low_) + low_ + 1, 1, n_},
                      taus_.data(), high_ - low_ - 1, z + (low_ + 1) * (n_ + 1),
                      n_);
  }

 private:
  /// Reflection j's vector, from element j + 1 on.
  T* v(int64_t j) { return v_.data() + (j - low_) * n_; }

  /// Column j = first + c as the reflections before change it, its own, and its
  /// column of Y = A V T.
  void column(int64_t first, int64_t c) {
    const int64_t j = first + c, top = first + 1, rows = high_ - top;
    T *x = v(j) + top, *vs = v(first) + top, *ys = y_.data() + top;
    T *of_v = factors_.data(), *turned = of_v + kPanel;
    for (int64_t k = 0; k < c; ++k) of_v[k] = -conjugate(v(first + k)[j]);
    add_rows(c, rows, ys, n_, of_v, x);
    rows_times(c, rows, vs, n_, x, of_v, true);
    for (int64_t k = 0; k < c; ++k) {  // T^H V^H x
      T sum(0);
      for (int64_t i = 0; i <= k; ++i)
        sum += conjugate(t_[size_t(i * kPanel + k)]) * of_v[i];
      turned[k] = -sum;
    }
    add_rows(c, rows, vs, n_, turned, x);

    T* own = v(j) + j + 1;
    const T tau = taus_[size_t(j - low_)] = reflector(high_ - j - 1, own, 1);
    for (int64_t i = top; i <= j + 1; ++i) a_[i * n_ + j] = v(j)[i];
    for (int64_t i = j + 2; i < high_; ++i) a_[i * n_ + j] = T(0);
    std::fill(v(j) + top, own, T(0));
    *own = T(1);

    T* y = ys + c * n_;
    rows_times(rows, high_ - j - 1, a_ + top * n_ + j + 1, n_, own, y);
    rows_times(c, high_ - j - 1, v(first) + j + 1, n_, own, of_v, true);
    for (int64_t k = 0; k < c; ++k) of_v[k] = -of_v[k];
    add_rows(c, rows, ys, n_, of_v, y);
    for (int64_t i = 0; i < rows; ++i) y[i] = product(tau, y[i]);
    for (int64_t k = 0; k < c; ++k) {
      T sum(0);
      for (int64_t i = k; i < c; ++i)
        sum += t_[size_t(k * kPanel + i)] * of_v[i];
      t_[size_t(k * kPanel + c)] = tau * sum;
    }
    t_[size_t(c * kPanel + c)] = tau;
  }

  /// A Q by A - Y V^H, then Q^H of that.
  void update(int64_t first, int64_t width) {
    const int64_t top = first + 1, rows = high_ - top, right = first + width;
    // The rows above, whose Y is still to be made.
    std::vector<T> av(size_t(top * width)), above(av);
    gemm<T>(top, width, rows, T(1), {a_ + top, n_, 1}, {v(first) + top, 1, n_},
            T(0), av.data(), width);
    for (int64_t k = 0; k < width; ++k)
      std::fill_n(t_.data() + k * kPanel, k, T(0));
    gemm<T>(top, width, width, T(1), {av.data(), width, 1},
            {t_.data(), kPanel, 1}, T(0), above.data(), width);
    std::vector<T> adjoint(size_t(width * n_));
    for (int64_t k = 0; k < width; ++k) {
      std::copy(v(first + k) + top, v(first + k) + high_,
                adjoint.data() + k * n_ + top);
      conjugate_all(rows, adjoint.data() + k * n_ + top);
    }
    gemm<T>(top, rows, width, T(-1), {above.data(), width, 1},
            {adjoint.data() + top, n_, 1}, T(1), a_ + top, n_);
    gemm<T>(rows, high_ - right, width, T(-1), {y_.data() + top, 1, n_},
            {adjoint.data() + right, n_, 1}, T(1), a_ + top * n_ + right, n_);
    const BlockReflector<T> block(rows, width, {v(first) + top, 1, n_},
                                  taus_.data() + first - low_);
    block.apply(true, n_ - right, a_ + top * n_ + right, n_);
  }

  int64_t n_, low_, high_;
  T* a_;
  // Vectors by rows, Y of a panel by rows, its T.
  std::vector<T> v_, y_, t_, factors_, taus_;
};

}  // namespace

template <class T>
void hessenberg(int64_t n, int64_t low, int64_t high, T* a, T* z) {
  Panels<T> panels(n, low, high, a);
  for (int64_t j = low; j + 2 < high; j += kPanel)
    panels.reduce(j, std::min(kPanel, high - 2 - j));
  if (z) panels.product_of_all(z);
}

#define HOTARU_INSTANTIATE(T) \
  template void hessenberg(int64_t, int64_t, int64_t, T*, T*);
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
