// LU with partial pivoting and what follows from it (G. Golub and C. Van Loan,
// Matrix computations, 3.4).
#include <memory>
#include <numeric>
#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {
namespace {

/// Rows that the trailing matrix is updated by together: they stay in cache.
constexpr int64_t kBlock = 32;

/// Eliminates columns c to end of the row-major a [m, n] below the diagonal,
/// within these columns; rows are exchanged whole. Returns 1 + index of the
/// first zero pivot, or 0.
template <class T>
int64_t factor_columns(T* a, int64_t m, int64_t n, int64_t c, int64_t end,
                       int32_t* pivots, bool exchange) {
  int64_t singular = 0;
  for (int64_t k = c; k < end; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; exchange && i < m; ++i)
      if (magnitude(a[i * n + k]) > magnitude(a[pivot * n + k])) pivot = i;
    pivots[k] = static_cast<int32_t>(pivot + 1);
    if (pivot != k) std::swap_ranges(a + k * n, a + k * n + n, a + pivot * n);
    const T* row = a + k * n;
    if (row[k] == T(0)) {
      if (!singular) singular = k + 1;
      continue;
    }
    for (int64_t i = k + 1; i < m; ++i) {
      T* to = a + i * n;
      const T factor = to[k] /= row[k];
      for (int64_t j = k + 1; j < end; ++j) to[j] -= factor * row[j];
    }
  }
  return singular;
}

/// to[0, n) -= sum of l[p] * u[p * stride + j].
template <class T>
void subtract(T* to, const T* l, const T* u, int64_t stride, int64_t depth,
              int64_t n) {
  int64_t p = 0;
  for (; p + 4 <= depth; p += 4) {
    const T a = l[p], b = l[p + 1], c = l[p + 2], d = l[p + 3];
    const T *x = u + p * stride, *y = x + stride, *z = y + stride,
            *w = z + stride;
    for (int64_t j = 0; j < n; ++j)
      to[j] -= a * x[j] + b * y[j] + c * z[j] + d * w[j];
  }
  for (; p < depth; ++p)
    for (int64_t j = 0; j < n; ++j) to[j] -= l[p] * u[p * stride + j];
}

/// Row-major a [m, n] becomes L (unit diagonal, below) and U.
template <class T>
int64_t factor(T* a, int64_t m, int64_t n, int32_t* pivots, bool exchange) {
  const int64_t k = std::min(m, n);
  int64_t singular = 0;
  for (int64_t c = 0; c < k; c += kBlock) {
    const int64_t end = std::min(c + kBlock, k), depth = end - c;
    const int64_t zero = factor_columns(a, m, n, c, end, pivots, exchange);
    if (!singular) singular = zero;
    for (int64_t i = c + 1; i < m && end < n; ++i)
      subtract(a + i * n + end, a + i * n + c, a + c * n + end, n,
               std::min(i - c, depth), n - end);
  }
  return singular;
}

/// Row i of the factored matrix is row rows[i] of the given one.
template <class I>
void permutation(const int32_t* pivots, int64_t k, I* rows, int64_t m) {
  std::iota(rows, rows + m, I(0));
  for (int64_t i = 0; i < k; ++i) std::swap(rows[i], rows[pivots[i] - 1]);
}

template <class T>
struct Lu {
  int64_t n;
  std::vector<T> a;
  std::vector<int32_t> pivots;
  int64_t singular = 0;

  Lu(int64_t n, const T* matrix)
      : n(n), a(matrix, matrix + n * n), pivots(static_cast<size_t>(n)) {
    singular = factor(a.data(), n, n, pivots.data(), true);
  }
  const T& at(int64_t i, int64_t j) const { return a[i * n + j]; }

  /// x = A^-1 b for k right-hand sides, both row-major n x k.
  void solve(int64_t k, const T* b, T* x) const {
    std::vector<int64_t> rows(static_cast<size_t>(n));
    permutation(pivots.data(), n, rows.data(), n);
    for (int64_t i = 0; i < n; ++i) {
      std::copy_n(b + rows[i] * k, k, x + i * k);
      subtract(x + i * k, &at(i, 0), x, k, i, k);
    }
    for (int64_t i = n; i-- > 0;) {
      T* to = x + i * k;
      subtract(to, &at(i, 0) + i + 1, x + (i + 1) * k, k, n - 1 - i, k);
      for (int64_t j = 0; j < k; ++j) to[j] /= at(i, i);
    }
  }
};

constexpr KernelTypes<LinalgTypes> kSolveTypes{0, "lu_cpu"};

void solve(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor &a = call.tensor(2), &b = call.tensor(3);
  kSolveTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      const Lu<T> lu(s.m, matrix<T>(a, i, s.m, s.m));
      set_info(call.tensor(1), i, lu.singular);
      if (lu.singular && s.inverse && s.check)
        fail<LinAlgError>(
            s.name, ": ", where(i, s.batched), "The diagonal element ",
            lu.singular,
            " is zero, the inversion could not be completed because the "
            "input matrix is singular.");
      HOTARU_CHECK_AS(LinAlgError, !lu.singular || !s.check, s.name, ": ",
                      where(i, s.batched),
                      "The solver failed because the input matrix is "
                      "singular.");
      lu.solve(s.n, matrix<T>(b, i, s.m, s.n),
               matrix<T>(call.tensor(0), i, s.m, s.n));
    }
  });
}

constexpr KernelTypes<LinalgTypes> kDeterminantTypes{3, "lu_cpu"};

void determinant(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor &det = call.tensor(0), &sign = call.tensor(1);
  const Tensor &logabs = call.tensor(2), &a = call.tensor(3);
  kDeterminantTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      const Lu<T> lu(s.m, matrix<T>(a, i, s.m, s.m));
      bool odd = false;
      for (int64_t k = 0; k < s.m; ++k) odd ^= lu.pivots[k] != k + 1;
      T product = odd ? T(-1) : T(1), direction = product;
      Real<T> size = 0;
      for (int64_t k = 0; k < s.m; ++k) {
        const T pivot = lu.at(k, k);
        const Real<T> modulus = std::abs(pivot);
        product *= pivot;
        direction = modulus == 0 ? T(0) : direction * (pivot / modulus);
        size += std::log(modulus);
      }
      det.data<T>()[i] = product;
      sign.data<T>()[i] = direction;
      logabs.data<Real<T>>()[i] = size;
    }
  });
}

constexpr KernelTypes<LinalgTypes> kLuTypes{0, "lu_cpu"};

void lu_factor(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  kLuTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      T* lu = matrix<T>(call.tensor(0), i, s.m, s.n);
      std::copy_n(matrix<T>(call.tensor(3), i, s.m, s.n), s.m * s.n, lu);
      const int64_t zero = factor(
          lu, s.m, s.n, matrix<int32_t>(call.tensor(1), i, s.k), s.pivot);
      set_info(call.tensor(2), i, zero);
      HOTARU_CHECK(
          !zero || !s.check, s.name, ": ", where(i, s.batched), "U[", zero, ",",
          zero,
          "] is zero and using it on lu_solve would result in a division by "
          "zero. If you still want to perform the factorization, consider "
          "calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
    }
  });
}

void permute(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  for (int64_t i = 0; i < s.batch; ++i) {
    const int32_t* pivots = matrix<int32_t>(call.tensor(1), i, s.k);
    for (int64_t k = 0; k < s.k; ++k) {
      if (pivots[k] >= 1 && pivots[k] <= s.m) continue;
      HOTARU_CHECK(
          s.inverse,
          "pivots passed to lu_unpack must be between 1 and LU.size(-2) "
          "inclusive.Did you properly pass the result of lu_factor?");
      fail("Pivots given to lu_solve must all be ",
           pivots[k] < 1 ? "greater or equal to 1"
                         : "smaller or equal to LU.size(-2)",
           ". Did you properly pass the result of lu_factor?");
    }
    permutation(pivots, s.k, matrix<int64_t>(call.tensor(0), i, s.m), s.m);
  }
}

HOTARU_KERNEL(kCPU, "linalg_solve", solve, check_types<kSolveTypes>);
HOTARU_KERNEL(kCPU, "linalg_determinant", determinant,
              check_types<kDeterminantTypes>);
HOTARU_KERNEL(kCPU, "linalg_lu", lu_factor, check_types<kLuTypes>);
HOTARU_KERNEL(kCPU, "linalg_permutation", permute);

}  // namespace
}  // namespace hotaru::cpu
