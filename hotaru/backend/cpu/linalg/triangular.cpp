// Cholesky's factors and triangular systems (G. Golub and C. Van Loan, Matrix
// computations, 3.1 and 4.2).
#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {
namespace {

/// L [n, n] with A = L L^H from A's lower triangle. Returns 1 + index of the
/// first column that has no positive diagonal, or 0.
template <class T>
int64_t factor(const T* a, int64_t n, T* l) {
  std::fill_n(l, n * n, T(0));
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = 0; c <= r; ++c) {
      T sum = a[r * n + c];
      for (int64_t k = 0; k < c; ++k)
        sum -= l[r * n + k] * conjugate(l[c * n + k]);
      if (r != c) {
        l[r * n + c] = sum / l[c * n + c];
        continue;
      }
      const Real<T> diagonal = std::real(sum);
      if (!(diagonal > 0)) return r + 1;
      l[r * n + r] = T(std::sqrt(diagonal));
    }
  return 0;
}

constexpr KernelTypes<LinalgTypes> kCholeskyTypes{0, "cholesky_cpu"};

void cholesky(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  kCholeskyTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      const int64_t failed = factor(matrix<T>(call.tensor(2), i, s.m, s.m), s.m,
                                    matrix<T>(call.tensor(0), i, s.m, s.m));
      set_info(call.tensor(1), i, failed);
      HOTARU_CHECK_AS(LinAlgError, !failed || !s.check, s.name, ": ",
                      where(i, s.batched),
                      "The factorization could not be completed because the "
                      "input is not positive-definite (the leading minor of "
                      "order ",
                      failed, " is not positive-definite).");
    }
  });
}

constexpr KernelTypes<LinalgTypes> kTriangularTypes{0, "triangular_solve"};

void triangular(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const int64_t m = s.m, n = s.n;
  kTriangularTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      const T* a = matrix<T>(call.tensor(1), i, m, m);
      T* x = matrix<T>(call.tensor(0), i, m, n);
      std::copy_n(matrix<T>(call.tensor(2), i, m, n), m * n, x);
      for (int64_t step = 0; step < m; ++step) {
        const int64_t r = s.upper ? m - 1 - step : step;
        T* to = x + r * n;
        const int64_t from = s.upper ? r + 1 : 0, end = s.upper ? m : r;
        for (int64_t p = from; p < end; ++p)
          for (int64_t j = 0; j < n; ++j) to[j] -= a[r * m + p] * x[p * n + j];
        if (s.unit) continue;
        for (int64_t j = 0; j < n; ++j) to[j] /= a[r * m + r];
      }
    }
  });
}

HOTARU_KERNEL(kCPU, "linalg_cholesky", cholesky, check_types<kCholeskyTypes>);
HOTARU_KERNEL(kCPU, "linalg_triangular", triangular,
              check_types<kTriangularTypes>);

}  // namespace
}  // namespace hotaru::cpu
