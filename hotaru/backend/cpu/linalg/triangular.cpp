// By halves, so that nearly all the work is matrix products (E. Elmroth, F.
// Gustavson, I. Jonsson, B. Kagstrom, "Recursive blocked algorithms and hybrid
// data structures for dense matrix library software", 2004).
#include "hotaru/backend/cpu/linalg/triangular.h"

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/backend/cpu/linalg/vectors.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru::cpu {
namespace {

/// Rows of a system that is solved row by row.
constexpr int64_t kRows = 16;

template <class T>
void solve_rows(Triangle triangle, int64_t m, int64_t n, const T* a,
                int64_t lda, T* x, int64_t ldx) {
  for (int64_t step = 0; step < m; ++step) {
    const int64_t r = triangle.upper ? m - 1 - step : step;
    const int64_t from = triangle.upper ? r + 1 : 0;
    T* to = x + r * ldx;
    T factors[kRows];
    for (int64_t p = 0; p < step; ++p) factors[p] = -a[r * lda + from + p];
    add_rows(step, n, x + from * ldx, ldx, factors, to);
    if (triangle.unit) continue;
    divide(n, a[r * lda + r], to);
  }
}

template <class T>
void solve_columns(Triangle triangle, int64_t m, int64_t n, const T* a,
                   int64_t lda, T* x, int64_t ldx) {
  if (m <= kRows) return solve_rows(triangle, m, n, a, lda, x, ldx);
  const int64_t half = (m / 2 + kRows - 1) / kRows * kRows, rest = m - half;
  const T* corner = a + half * lda + half;
  T* below = x + half * ldx;
  const auto subtract_product = [&](int64_t rows, int64_t depth, const T* from,
                                    const T* solved, T* to) {
    gemm<T>(rows, n, depth, T(-1), {from, lda, 1}, {solved, ldx, 1}, T(1), to,
            ldx);
  };
  if (triangle.upper) {
    solve_columns(triangle, rest, n, corner, lda, below, ldx);
    subtract_product(half, rest, a + half, below, x);
    solve_columns(triangle, half, n, a, lda, x, ldx);
  } else {
    solve_columns(triangle, half, n, a, lda, x, ldx);
    subtract_product(rest, half, a + half * lda, x, below);
    solve_columns(triangle, rest, n, corner, lda, below, ldx);
  }
}

}  // namespace

template <class T>
void solve_triangular(Triangle triangle, int64_t m, int64_t n, const T* a,
                      int64_t lda, T* x, int64_t ldx) {
  for_areas(m, n, m / 2, m, kLine, [&](const Area& area) {
    solve_columns(triangle, m, area.col_end - area.col_begin, a, lda,
                  x + area.col_begin, ldx);
  });
}

#define HOTARU_INSTANTIATE(T) \
  template void solve_triangular(Triangle, int64_t, int64_t, const T*, \
                                 int64_t, T*, int64_t);
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

namespace {

constexpr KernelTypes<LinalgTypes> kTriangularTypes{0, "triangular_solve"};

void triangular(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const int64_t m = s.m, n = s.n;
  kTriangularTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      const T* a = matrix<T>(call.tensor(1), i, m, m);
      for (int64_t d = 0; s.check && d < m; ++d)
        if (a[d * (m + 1)] == T(0)) refuse_inverse(s, i, d + 1);
      T* x = matrix<T>(call.tensor(0), i, m, n);
      std::copy_n(matrix<T>(call.tensor(2), i, m, n), m * n, x);
      solve_triangular({s.upper, s.unit}, m, n, a, m, x, n);
    }
  });
}

HOTARU_KERNEL(kCPU, "linalg_triangular", triangular,
              check_types<kTriangularTypes>);

}  // namespace
}  // namespace hotaru::cpu
