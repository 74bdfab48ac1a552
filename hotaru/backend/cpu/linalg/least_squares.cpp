// Least squares: by QR where the matrix has full rank beyond doubt, else by
// singular values.
#include <algorithm>
#include <random>
#include <vector>

#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/backend/cpu/linalg/reflectors.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/singular_values.h"
#include "hotaru/backend/cpu/linalg/triangular.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/special_errors.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kBlock = 64;

template <class T>
double squares(int64_t count, const T* x) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += double(std::norm(x[i]));
  return sum;
}

/// Frobenius' norm of an upper triangular r [n, n], rows ldr apart; NaN if it
/// is singular.
template <class T>
double norm(int64_t n, const T* r, int64_t ldr) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (r[i * ldr + i] == T(0)) return NAN;
    sum += squares(n - i, r + i * ldr + i);
  }
  return std::sqrt(sum);
}

/// Probable bound of Frobenius' norm of the inverse: that norm of R^-1 Z /
/// sqrt(32) of 32 columns of normal numbers, by which it is found in the mean,
/// over sqrt(0.1). The chance of less than that is greatest where one singular
/// value is all, and then that of a chi-squared variable of 32 degrees below
/// 3.2, 2e-11 (F. Roosta-Khorasani and U. Ascher, "Improved bounds on sample
/// size for implicit matrix trace estimators", 2015).
template <class T>
double probable_inverse_norm(int64_t n, const T* r, int64_t ldr) {
  constexpr int64_t kProbes = 32;
  std::mt19937 engine;
  std::normal_distribution<Real<T>> normal;
  std::vector<T> z(size_t(n * kProbes));
  for (T& x : z) x = T(normal(engine));
  solve_triangular({true, false}, n, kProbes, r, ldr, z.data(), kProbes);
  return std::sqrt(squares(n * kProbes, z.data()) / (0.1 * kProbes));
}

/// Frobenius' norm of the inverse, which is made by blocks of columns, zero
/// below the diagonal.
template <class T>
double inverse_norm(int64_t n, const T* r, int64_t ldr) {
  double sum = 0;
  std::vector<T> columns;
  for (int64_t c = 0; c < n; c += kBlock) {
    const int64_t width = std::min(kBlock, n - c), rows = c + width;
    columns.assign(size_t(rows * width), T(0));
    for (int64_t j = 0; j < width; ++j)
      columns[size_t((c + j) * width + j)] = T(1);
    solve_triangular({true, false}, rows, width, r, ldr, columns.data(), width);
    sum += squares(rows * width, columns.data());
  }
  return std::sqrt(sum);
}

/// Tells whether the least singular value of the upper triangular r is more
/// than rcond times the greatest, by norms of r and its inverse.
template <class T>
bool has_full_rank(int64_t n, const T* r, int64_t ldr, double rcond) {
  // From here on the probes are less work than the inverse.
  constexpr int64_t kLarge = 256;
  const double limit = norm(n, r, ldr) * rcond;
  if (n >= kLarge && probable_inverse_norm(n, r, ldr) * limit < 1) return true;
  return inverse_norm(n, r, ldr) * limit < 1;
}

/// One problem: x [n, k] of a [m, n] and b [m, k].
template <class T>
class LeastSquares {
 public:
  LeastSquares(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* x)
      : m_(m), n_(n), k_(k), a_(a), b_(b), x_(x) {}

  /// False, and nothing done, if the rank is in doubt.
  bool by_qr(double rcond) const {
    return m_ >= n_ ? by_columns(rcond) : by_rows(rcond);
  }

  /// The solution of least norm; returns the rank.
  int64_t by_singular_values(double rcond, SvdOutcome& outcome) const {
    const int64_t least = std::min(m_, n_);
    std::vector<Real<T>> values(static_cast<size_t>(least));
    std::vector<T> u(size_t(m_ * least));
    std::vector<T> vh(size_t(least * n_));
    outcome = singular_values(m_, n_, a_, values.data(), u.data(), least,
                              vh.data(), least);
    if (outcome != SvdOutcome::kDone) return 0;
    int64_t rank = 0;
    while (rank < least && values[size_t(rank)] > Real<T>(rcond) * values[0])
      ++rank;
    for (T& z : u) z = conjugate(z);
    for (T& z : vh) z = conjugate(z);
    std::vector<T> along(size_t(rank * k_));
    gemm<T>(rank, k_, m_, T(1), {u.data(), 1, least}, {b_, k_, 1}, T(0),
            along.data(), k_);
    for (int64_t i = 0; i < rank; ++i)
      for (int64_t j = 0; j < k_; ++j)
        along[size_t(i * k_ + j)] /= values[size_t(i)];
    gemm<T>(n_, k_, rank, T(1), {vh.data(), 1, n_}, {along.data(), k_, 1}, T(0),
            x_, k_);
    return rank;
  }

 private:
  /// R x = Q^H b, of A and b side by side.
  bool by_columns(double rcond) const {
    const int64_t all = n_ + k_;
    std::vector<T> w(size_t(m_ * all));
    std::vector<T> taus(static_cast<size_t>(n_));
    for (int64_t i = 0; i < m_; ++i) {
      T* row = w.data() + i * all;
      std::copy_n(b_ + i * k_, k_, std::copy_n(a_ + i * n_, n_, row));
    }
    factor_qr(m_, n_, w.data(), all, taus.data(), k_);
    if (!has_full_rank(n_, w.data(), all, rcond)) return false;
    T* x = w.data() + n_;
    solve_triangular({true, false}, n_, k_, w.data(), all, x, all);
    for (int64_t i = 0; i < n_; ++i) std::copy_n(x + i * all, k_, x_ + i * k_);
    return true;
  }

  /// x = Q R^-H b, of A^H = Q R.
  bool by_rows(double rcond) const {
    std::vector<T> w(size_t(m_ * n_));
    std::vector<T> taus(static_cast<size_t>(m_));
    transpose(m_, n_, a_, n_, w.data(), m_, conjugate<T>);
    factor_qr(n_, m_, w.data(), m_, taus.data());
    if (!has_full_rank(m_, w.data(), m_, rcond)) return false;
    std::vector<T> lower(size_t(m_ * m_));
    transpose(m_, m_, w.data(), m_, lower.data(), m_, conjugate<T>);
    std::fill(std::copy_n(b_, m_ * k_, x_), x_ + n_ * k_, T(0));
    solve_triangular({false, false}, m_, k_, lower.data(), m_, x_, k_);
    apply_reflections(n_, m_, {w.data(), m_, 1}, taus.data(), k_, x_, k_);
    return true;
  }

  int64_t m_, n_, k_;
  const T *a_, *b_;
  T* x_;
};

constexpr KernelTypes<LinalgTypes> kTypes{0, "linalg_lstsq_cpu"};

void least_squares(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const int64_t least = std::min(s.m, s.n);
  kTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      const LeastSquares<T> problem(s.m, s.n, s.k,
                                    matrix<T>(call.tensor(2), i, s.m, s.n),
                                    matrix<T>(call.tensor(3), i, s.m, s.k),
                                    matrix<T>(call.tensor(0), i, s.n, s.k));
      int64_t& rank = call.tensor(1).data<int64_t>()[i];
      rank = least;
      if (problem.by_qr(s.rcond)) continue;
      SvdOutcome outcome;
      rank = problem.by_singular_values(s.rcond, outcome);
      HOTARU_CHECK_AS(LinAlgError, outcome == SvdOutcome::kDone, s.name, ": ",
                      where(i, s.batched), singular_values_failed(outcome));
    }
  });
}

HOTARU_KERNEL(kCPU, "linalg_least_squares", least_squares, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
