// QR with two shifts (G. Golub and C. Van Loan, Matrix computations, 7.5).
#include "hotaru/backend/cpu/linalg/spectra/small_schur.h"

#include "hotaru/backend/common/number_types.h"

namespace hotaru::cpu {

template <class T>
SmallReflection<T>::SmallReflection(int64_t rows, T x0, T x1, T x2)
    : count(rows) {
  using R = Real<T>;
  constexpr R kTiny =
      std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  const R below = std::norm(x1) + (rows > 2 ? std::norm(x2) : R(0));
  if (!(below > kTiny) ||
      !(std::norm(x0) + below < std::numeric_limits<R>::max())) {
    T x[3] = {x0, x1, x2};
    tau = reflector(rows, x, 1);
    v1 = x[1];
    v2 = rows > 2 ? x[2] : T(0);
    beta = std::real(x[0]);
    return;
  }
  const R length = std::sqrt(std::norm(x0) + below);
  beta = std::signbit(std::real(x0)) ? length : -length;
  const T scale = T(1) / (x0 - T(beta));
  v1 = product(x1, scale);
  v2 = rows > 2 ? product(x2, scale) : T(0);
  tau = (T(beta) - x0) / beta;
}

template <class T>
void SmallReflection<T>::turn_rows(int64_t n, T* x, int64_t ld) const {
  if (count == 3) {
    table<ProductKernels<T>>().reflect_rows(n, x, ld, v1, v2, tau);
    return;
  }
  const T left = conjugate(tau), first = conjugate(v1);
  T* y = x + ld;
  for (int64_t j = 0; j < n; ++j) {
    const T sum = product(left, x[j] + product(first, y[j]));
    x[j] -= sum;
    y[j] -= product(v1, sum);
  }
}

template <class T>
void SmallReflection<T>::turn_columns(int64_t n, T* x, int64_t ld) const {
  const T second = conjugate(v1), third = conjugate(v2);
  for (int64_t i = 0; i < n; ++i, x += ld) {
    T sum = x[0] + product(x[1], v1);
    if (count == 3) sum += product(x[2], v2);
    sum = product(sum, tau);
    x[0] -= sum;
    x[1] -= product(sum, second);
    if (count == 3) x[2] -= product(sum, third);
  }
}

template <class T>
void Window<T>::reflect(const SmallReflection<T>& reflection, int64_t k,
                        int64_t from, int64_t end) const {
  reflection.turn_rows(n - from, h + k * n + from, n);
  reflection.turn_columns(end, h + k, n);
  reflection.turn_rows(n, turned + k * n, n);
}

template <class T>
SmallReflection<T> first_reflection(const T* h, int64_t ld, int64_t k,
                                    const std::complex<Real<T>>* shifts) {
  std::complex<Real<T>> x[3];
  first_column(h, ld, k, shifts, x);
  if constexpr (kIsComplex<T>)
    return {3, x[0], x[1], x[2]};
  else
    return {3, x[0].real(), x[1].real(), x[2].real()};
}

namespace {

/// Takes the element below the diagonal of two rows away, unless that would
/// make real numbers complex.
template <class T>
void split(const Window<T>& w, int64_t k) {
  const T a = w.at(k, k), b = w.at(k, k + 1), c = w.at(k + 1, k),
          d = w.at(k + 1, k + 1);
  if constexpr (!kIsComplex<T>) {
    const T p = (a - d) / 2;
    if (p * p + b * c < 0) return;
  }
  std::complex<Real<T>> two[2];
  pair_values(a, b, c, d, two);
  T z;  // (z, c) is an eigenvector
  if constexpr (kIsComplex<T>)
    z = two[0] - d;
  else
    z = two[0].real() - d;
  w.reflect(SmallReflection<T>(2, z, c, T(0)), k, k, k + 2);
  w.at(k + 1, k) = T(0);
}

}  // namespace

template <class T>
bool small_schur(const Window<T>& w, Real<T> norm) {
  constexpr int64_t kMostSteps = 300;
  int64_t step = 0;
  for (int64_t high = w.n; high > 1;) {
    int64_t low = high - 1;
    while (low > 0 && !small_below(w.h, w.n, low, norm)) --low;
    if (low > 0) w.at(low, low - 1) = T(0);
    if (low + 2 >= high) {
      if (low + 2 == high) split(w, low);
      high = low;
      step = 0;
      continue;
    }
    if (step == kMostSteps) return false;
    std::complex<Real<T>> shifts[2];
    choose_shifts(w.h, w.n, low, high, step++, shifts);
    w.reflect(first_reflection(w.h, w.n, low, shifts), low, low,
              std::min(low + 4, high));
    for (int64_t k = low; k + 2 < high; ++k) {
      const int64_t rows = std::min<int64_t>(3, high - k - 1);
      T* x = &w.at(k + 1, k);
      const SmallReflection<T> turn(rows, x[0], x[w.n],
                                    rows > 2 ? x[2 * w.n] : T(0));
      x[0] = T(turn.beta);
      x[w.n] = T(0);
      if (rows > 2) x[2 * w.n] = T(0);
      w.reflect(turn, k + 1, k + 1, std::min(k + 5, high));
    }
  }
  return true;
}

#define HOTARU_INSTANTIATE(T) \
  template struct SmallReflection<T>; \
  template struct Window<T>; \
  template SmallReflection<T> first_reflection(const T*, int64_t, int64_t, \
                                               const std::complex<Real<T>>*); \
  template bool small_schur(const Window<T>&, Real<T>);
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
