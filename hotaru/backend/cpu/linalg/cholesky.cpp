// Cholesky's factors (G. Golub and C. Van Loan, Matrix computations, 4.2), by
// halves.
#include <vector>

#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/backend/cpu/linalg/triangular.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/special_errors.h"

namespace hotaru::cpu {
namespace {

/// Columns that are factored row by row; columns of a product of which only a
/// triangle is wanted.
constexpr int64_t kColumns = 16, kStrip = 96;

template <class T>
int64_t factor_rows(int64_t n, T* a, int64_t lda) {
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = 0; c <= r; ++c) {
      T sum = a[r * lda + c];
      for (int64_t k = 0; k < c; ++k)
        sum -= product(a[r * lda + k], conjugate(a[c * lda + k]));
      if (r != c) {
        a[r * lda + c] = sum / std::real(a[c * lda + c]);
        continue;
      }
      const Real<T> diagonal = std::real(sum);
      if (!(diagonal > 0)) return r + 1;
      a[r * lda + r] = T(std::sqrt(diagonal));
    }
  return 0;
}

/// The lower triangle of a [n, n] becomes L with A = L L^H; what is above it is
/// lost. Returns 1 + index of the first column that has no positive diagonal,
/// or 0.
template <class T>
int64_t factor(int64_t n, T* a, int64_t lda) {
  if (n <= kColumns) return factor_rows(n, a, lda);
  const int64_t half = (n / 2 + kColumns - 1) / kColumns * kColumns;
  const int64_t rest = n - half;
  if (const int64_t failed = factor(half, a, lda)) return failed;
  // A21 = L21 L11^H: solved as L11 L21^H = A21^H, whose rows are long.
  T *below = a + half * lda, *corner = below + half;
  std::vector<T> solved(size_t(half * rest));
  for (int64_t i = 0; i < rest; ++i)
    for (int64_t j = 0; j < half; ++j)
      solved[size_t(j * rest + i)] = conjugate(below[i * lda + j]);
  solve_triangular({}, half, rest, a, lda, solved.data(), rest);
  for (int64_t i = 0; i < rest; ++i)
    for (int64_t j = 0; j < half; ++j)
      below[i * lda + j] = conjugate(solved[size_t(j * rest + i)]);
  for (int64_t c = 0; c < rest; c += kStrip)
    gemm<T>(rest - c, std::min(kStrip, rest - c), half, T(-1),
            {below + c * lda, lda, 1}, {solved.data() + c, rest, 1}, T(1),
            corner + c * lda + c, lda);
  const int64_t failed = factor(rest, corner, lda);
  return failed ? half + failed : 0;
}

constexpr KernelTypes<LinalgTypes> kTypes{0, "cholesky_cpu"};

void cholesky(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const int64_t n = s.m;
  kTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      const T* a = matrix<T>(call.tensor(2), i, n, n);
      T* l = matrix<T>(call.tensor(0), i, n, n);
      for (int64_t r = 0; r < n; ++r) std::copy_n(a + r * n, r + 1, l + r * n);
      const int64_t failed = factor(n, l, n);
      for (int64_t r = 0; r < n; ++r)
        std::fill(l + r * n + r + 1, l + (r + 1) * n, T(0));
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

HOTARU_KERNEL(kCPU, "linalg_cholesky", cholesky, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
