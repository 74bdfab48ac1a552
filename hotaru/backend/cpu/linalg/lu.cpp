// LU with partial pivoting and what follows from it (G. Golub and C. Van Loan,
// Matrix computations, 3.4).
#include <memory>
#include <numeric>
#include <vector>

#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/backend/cpu/linalg/triangular.h"
#include "hotaru/backend/cpu/linalg/vectors.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/special_errors.h"

#ifndef HOTARU_NO_FUSED
#error "needs -ffp-contract=off: see hotaru_own_flags in hotaru/CMakeLists.txt"
#endif

namespace hotaru::cpu {
namespace {

/// Columns that are eliminated one after the other, and those of an inverse
/// that are solved for together.
constexpr int64_t kColumns = 16, kPanel = 64;

/// Where the first of the largest of x[begin, end) is.
template <class T>
int64_t largest(const T* x, int64_t begin, int64_t end) {
  if constexpr (!kIsComplex<T>)
    return begin + table<LineKernels<T>>().largest(end - begin, x + begin);
  int64_t found = begin;
  Real<T> most = magnitude(x[begin]);
  for (int64_t i = begin + 1; i < end; ++i)
    if (magnitude(x[i]) > most) most = magnitude(x[found = i]);
  return found;
}

/// to[j * rows + i] = from[i * stride + j], i < rows, j < columns.
template <class T>
void transpose(int64_t rows, int64_t columns, const T* from, int64_t stride,
               T* to) {
  if constexpr (!kIsComplex<T>)
    return gemm_kernels<T>().pack(to, rows, columns, {from, stride, 1});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[j * rows + i] = from[i * stride + j];
}

/// Row i is exchanged with row pivots[i] - 1, i = begin .. end - 1, in the
/// first `columns` columns of a.
template <class T>
void exchange_rows(T* a, int64_t lda, int64_t columns, const int32_t* pivots,
                   int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end && columns > 0; ++i) {
    T *row = a + i * lda, *other = a + (pivots[i] - 1) * lda;
    if (row != other) std::swap_ranges(row, row + columns, other);
  }
}

/// Eliminates the n <= kColumns columns of a [m, n], n <= m, one by one, in
/// memory where columns are contiguous: each when its turn comes, by all the
/// ones before it. Products are rounded before they are added, as l u is equal
/// to an element that depends on others then: with one rounding for both, small
/// integers that are singular leave a pivot of some 1e-7. Returns 1 + index of
/// the first zero pivot, or 0.
template <class T>
int64_t factor_columns(T* a, int64_t m, int64_t n, int64_t lda, int32_t* pivots,
                       bool exchange) {
  const std::unique_ptr<T[]> panel(new T[size_t(2 * m * n)]);
  T *columns = panel.get(), *rows = columns + m * n;
  transpose(m, n, a, lda, columns);
  int64_t singular = 0;
  for (int64_t k = 0; k < n; ++k) {
    T *column = columns + k * m, factors[kColumns];
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < i; ++j)
        column[i] += product(factors[j], columns[j * m + i]);
      factors[i] = -column[i];
    }
    add_rounded_rows(k, m - k, columns + k, m, factors, column + k);
    const int64_t pivot = exchange ? largest(column, k, m) : k;
    pivots[k] = int32_t(pivot + 1);
    for (int64_t j = 0; j < n && pivot != k; ++j)
      std::swap(columns[j * m + k], columns[j * m + pivot]);
    if (column[k] != T(0))
      divide(m - k - 1, column[k], column + k + 1);
    else if (!singular)
      singular = k + 1;
  }
  transpose(n, m, columns, m, rows);
  for (int64_t i = 0; i < m; ++i, rows += n, a += lda)
    if (n == kColumns)
      std::copy_n(rows, kColumns, a);
    else
      std::copy_n(rows, n, a);
  return singular;
}

/// Computes the rest of a matrix of m rows when its first `done` columns are L
/// and U, at `a`: U of the other columns, at `right`, and what their
/// elimination begins with. Each thread has columns of its own.
template <class T>
void follow(const T* a, int64_t lda, int64_t m, int64_t done, T* right,
            int64_t ld, int64_t columns, const int32_t* pivots) {
  for_areas(m, columns, done, m, kLine, [&](const Area& area) {
    const int64_t width = area.col_end - area.col_begin;
    T* x = right + area.col_begin;
    exchange_rows(x, ld, width, pivots, 0, done);
    solve_triangular({false, true}, done, width, a, lda, x, ld);
    gemm<T>(m - done, width, done, T(-1), {a + done * lda, lda, 1}, {x, ld, 1},
            T(1), x + done * ld, ld);
  });
}

/// The n <= m columns of a [m, n] become L (unit diagonal, below) and U; by
/// halves, so that nearly all the work is matrix products (S. Toledo, "Locality
/// of reference in LU decomposition with partial pivoting", 1997).
template <class T>
int64_t factor_tall(T* a, int64_t m, int64_t n, int64_t lda, int32_t* pivots,
                    bool exchange) {
  if (n <= kColumns) return factor_columns(a, m, n, lda, pivots, exchange);
  const int64_t half = (n / 2 + kColumns - 1) / kColumns * kColumns;
  const int64_t first = factor_tall(a, m, half, lda, pivots, exchange);
  follow(a, lda, m, half, a + half, lda, n - half, pivots);
  const int64_t second = factor_tall(a + half * lda + half, m - half, n - half,
                                     lda, pivots + half, exchange);
  for (int64_t k = half; k < n; ++k) pivots[k] += int32_t(half);
  exchange_rows(a, lda, half, pivots, half, n);
  return first || !second ? first : half + second;
}

/// After the exchanges [begin, end) row i is what was row rows[i].
template <class I>
void permutation(const int32_t* pivots, int64_t begin, int64_t end, I* rows,
                 int64_t m) {
  std::iota(rows, rows + m, I(0));
  for (int64_t i = begin; i < end; ++i) std::swap(rows[i], rows[pivots[i] - 1]);
}

/// The columns [begin, begin + width) of a matrix below its row `begin`, with
/// neighbouring rows of their own until all pivots are known.
template <class T>
class Panel {
 public:
  Panel(const T* a, int64_t lda, int64_t m, int64_t begin, int64_t width)
      : begin_(begin),
        rows_(m - begin),
        width_(width),
        values_(new T[size_t(rows_ * ld())]) {
    for (int64_t i = 0; i < rows_; ++i)
      std::copy_n(a + (begin + i) * lda + begin, width, at(i));
  }
  T* at(int64_t row) const { return values_.get() + row * ld(); }
  int64_t ld() const { return width_ + kLine; }  // columns in different sets
  int64_t width() const { return width_; }
  int64_t end() const { return begin_ + width_; }

  /// Row i of a has what is row from[i] of the matrix that this was part of.
  void write(T* a, int64_t lda, const int64_t* from) const {
    for (int64_t i = begin_; i < begin_ + rows_; ++i)
      std::copy_n(at(from[i] - begin_), width_, a + i * lda + begin_);
  }

 private:
  int64_t begin_, rows_, width_;
  std::unique_ptr<T[]> values_;
};

/// Row-major a [m, n] becomes L and U, panel by panel. Panels are one thread's,
/// each of the others keeps columns to the right of them: the more often an
/// element changes hands, the longer it takes. Returns 1 + index of the first
/// zero pivot, or 0.
template <class T>
int64_t factor(T* a, int64_t m, int64_t n, int32_t* pivots, bool exchange) {
  const int64_t k = std::min(m, n);
  if (k <= kPanel && n == k) return factor_tall(a, m, n, n, pivots, exchange);
  int64_t zero = 0;
  std::vector<Panel<T>> panels;
  for (int64_t j = 0; j < k; j += kPanel) {
    const Panel<T>& panel =
        panels.emplace_back(a, n, m, j, std::min(kPanel, k - j));
    const int64_t width = panel.width(), end = panel.end();
    {
      const detail::PositionGuard alone({0, true});
      const int64_t found = factor_tall(panel.at(0), m - j, width, panel.ld(),
                                        pivots + j, exchange);
      if (!zero && found) zero = j + found;
    }
    follow(panel.at(0), panel.ld(), m - j, width, a + j * n + end, n, n - end,
           pivots + j);
    for (int64_t i = j; i < end; ++i) pivots[i] += int32_t(j);
  }
  std::vector<int64_t> from(static_cast<size_t>(m));
  for (const Panel<T>& panel : panels) {
    permutation(pivots, panel.end(), k, from.data(), m);
    panel.write(a, n, from.data());
  }
  return zero;
}

template <class T>
struct Lu {
  int64_t n;
  std::vector<T> a;
  std::vector<int32_t> pivots;
  int64_t singular = 0;

  Lu(int64_t n, const T* matrix)
      : n(n), a(matrix, matrix + n * n), pivots(size_t(n)) {
    singular = factor(a.data(), n, n, pivots.data(), true);
  }
  const T& at(int64_t i, int64_t j) const { return a[i * n + j]; }

  /// x = A^-1 b for k right-hand sides, both row-major n x k.
  void solve(int64_t k, const T* b, T* x) const {
    std::vector<int64_t> rows(static_cast<size_t>(n));
    permutation(pivots.data(), 0, n, rows.data(), n);
    for (int64_t i = 0; i < n; ++i) std::copy_n(b + rows[i] * k, k, x + i * k);
    solve_triangular({false, true}, n, k, a.data(), n, x, k);
    solve_triangular({true, false}, n, k, a.data(), n, x, k);
  }

  /// x = A^-1, row-major n x n: U^-1 L^-1, whose columns are then exchanged.
  void invert(T* x) const {
    std::fill_n(x, n * n, T(0));
    for (int64_t i = 0; i < n; ++i) x[i * n + i] = T(1);
    for (int64_t c = 0; c < n; c += kPanel)  // above them L^-1 is zero
      solve_triangular({false, true}, n - c, std::min(kPanel, n - c), &at(c, c),
                       n, x + c * n + c, n);
    solve_triangular({true, false}, n, n, a.data(), n, x, n);
    std::vector<int64_t> rows(static_cast<size_t>(n));
    permutation(pivots.data(), 0, n, rows.data(), n);
    std::vector<T> row(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      std::copy_n(x + i * n, n, row.data());
      for (int64_t j = 0; j < n; ++j) x[i * n + rows[j]] = row[size_t(j)];
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
        refuse_inverse(s, i, lu.singular);
      HOTARU_CHECK_AS(LinAlgError, !lu.singular || !s.check, s.name, ": ",
                      where(i, s.batched),
                      "The solver failed because the input matrix is "
                      "singular.");
      T* x = matrix<T>(call.tensor(0), i, s.m, s.n);
      if (s.inverse)
        lu.invert(x);
      else
        lu.solve(s.n, matrix<T>(b, i, s.m, s.n), x);
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
    permutation(pivots, 0, s.k, matrix<int64_t>(call.tensor(0), i, s.m), s.m);
  }
}

HOTARU_KERNEL(kCPU, "linalg_solve", solve, check_types<kSolveTypes>);
HOTARU_KERNEL(kCPU, "linalg_determinant", determinant,
              check_types<kDeterminantTypes>);
HOTARU_KERNEL(kCPU, "linalg_lu", lu_factor, check_types<kLuTypes>);
HOTARU_KERNEL(kCPU, "linalg_permutation", permute);

}  // namespace
}  // namespace hotaru::cpu
