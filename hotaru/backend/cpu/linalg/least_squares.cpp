// Least squares: by QR where the matrix has full rank beyond doubt, else by
// singular values.
#include <algorithm>
#include <vector>

#include "hotaru/backend/cpu/linalg/reflectors.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/singular_values.h"
#include "hotaru/backend/cpu/linalg/triangular.h"
#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kBlock = 64;

template <class T>
double squares(int64_t count, const T* x) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += double(std::norm(x[i]));
  return sum;
}

/// Whether the least singular value of the upper triangular r [n, n], rows ldr
/// apart, is more than rcond times the greatest, by Frobenius' norms of r and
/// its inverse; which is made by blocks of columns, zero below the diagonal.
template <class T>
bool has_full_rank(int64_t n, const T* r, int64_t ldr, double rcond) {
  double whole = 0, inverse = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (r[i * ldr + i] == T(0)) return false;
    whole += squares(n - i, r + i * ldr + i);
  }
  std::vector<T> columns;
  for (int64_t c = 0; c < n; c += kBlock) {
    const int64_t width = std::min(kBlock, n - c), rows = c + width;
    columns.assign(static_cast<size_t>(rows * width), T(0));
    for (int64_t j = 0; j < width; ++j)
      columns[static_cast<size_t>((c + j) * width + j)] = T(1);
    solve_triangular({true, false}, rows, width, r, ldr, columns.data(), width);
    inverse += squares(rows * width, columns.data());
  }
  return std::sqrt(whole) * std::sqrt(inverse) * rcond < 1;
}

/// Q^H C, as apply_reflections gives Q C.
template <class T>
void apply_adjoint(int64_t rows, int64_t count, const T* v, int64_t ldv,
                   const T* taus, int64_t n, T* c) {
  for (int64_t k = 0; k < count; k += kBlock)
    BlockReflector<T>(rows - k, std::min(kBlock, count - k), v + k * ldv + k,
                      ldv, taus + k)
        .apply(true, n, c + k * n, n);
}

/// One problem: x [n, k] of a [m, n] and b [m, k].
template <class T>
class LeastSquares {
 public:
  LeastSquares(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* x)
      : m_(m), n_(n), k_(k), a_(a), b_(b), x_(x) {}

  /// False, and nothing done, if the rank is in doubt.
  bool by_qr(double rcond) const {
    const int64_t longer = std::max(m_, n_), least = std::min(m_, n_);
    std::vector<T> w(a_, a_ + m_ * n_), taus(static_cast<size_t>(least));
    if (m_ < n_) transpose(m_, n_, a_, n_, w.data(), m_, conjugate<T>);
    factor_qr(longer, least, w.data(), least, taus.data());
    if (!has_full_rank(least, w.data(), least, rcond)) return false;
    std::vector<T> c(static_cast<size_t>(longer * k_), T(0));
    std::copy_n(b_, m_ * k_, c.data());
    if (m_ >= n_) {  // R x = Q^H b
      apply_adjoint(m_, n_, w.data(), n_, taus.data(), k_, c.data());
      solve_triangular({true, false}, n_, k_, w.data(), n_, c.data(), k_);
    } else {  // x = Q R^-H b
      std::vector<T> lower(static_cast<size_t>(m_ * m_));
      transpose(m_, m_, w.data(), m_, lower.data(), m_, conjugate<T>);
      solve_triangular({false, false}, m_, k_, lower.data(), m_, c.data(), k_);
      apply_reflections(n_, m_, {w.data(), m_, 1}, taus.data(), k_, c.data(),
                        k_);
    }
    std::copy_n(c.data(), n_ * k_, x_);
    return true;
  }

  /// The solution of least norm; returns the rank.
  int64_t by_singular_values(double rcond, SvdOutcome& outcome) const {
    const int64_t least = std::min(m_, n_);
    std::vector<Real<T>> values(static_cast<size_t>(least));
    std::vector<T> u(static_cast<size_t>(m_ * least));
    std::vector<T> vh(static_cast<size_t>(least * n_));
    outcome = singular_values(m_, n_, a_, values.data(), u.data(), least,
                              vh.data(), least);
    if (outcome != SvdOutcome::kDone) return 0;
    int64_t rank = 0;
    while (rank < least &&
           values[static_cast<size_t>(rank)] > Real<T>(rcond) * values[0])
      ++rank;
    for (T& z : u) z = conjugate(z);
    for (T& z : vh) z = conjugate(z);
    std::vector<T> along(static_cast<size_t>(rank * k_));
    gemm<T>(rank, k_, m_, T(1), {u.data(), 1, least}, {b_, k_, 1}, T(0),
            along.data(), k_);
    for (int64_t i = 0; i < rank; ++i)
      for (int64_t j = 0; j < k_; ++j)
        along[static_cast<size_t>(i * k_ + j)] /=
            values[static_cast<size_t>(i)];
    gemm<T>(n_, k_, rank, T(1), {vh.data(), 1, n_}, {along.data(), k_, 1}, T(0),
            x_, k_);
    return rank;
  }

 private:
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
