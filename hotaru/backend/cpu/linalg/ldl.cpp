// L D L^T of symmetric and L D L^H of Hermitian matrices, D with blocks of one
// and two (J. Bunch and L. Kaufman, Some stable methods for calculating inertia
// and solving symmetric linear systems, 1977). Of a matrix only the lower
// triangle is read and written.
#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"
#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cpu {
namespace {

template <class T>
struct Ldl {
  T* a;  // row-major [n, n]
  int64_t n;
  bool hermitian;

  T& at(int64_t i, int64_t j) const { return a[i * n + j]; }
  T mirrored(T x) const { return hermitian ? conjugate(x) : x; }
  /// A diagonal element, of which a Hermitian matrix has no imaginary part.
  T diagonal(int64_t i) const {
    return hermitian ? T(std::real(at(i, i))) : at(i, i);
  }

  /// Exchanges rows and columns p < q of what begins at row p or before it.
  void exchange(int64_t p, int64_t q) const {
    for (int64_t i = q + 1; i < n; ++i) std::swap(at(i, p), at(i, q));
    for (int64_t i = p + 1; i < q; ++i) {
      const T below = at(i, p);
      at(i, p) = mirrored(at(q, i));
      at(q, i) = mirrored(below);
    }
    at(q, p) = mirrored(at(q, p));
    const T first = diagonal(p);
    at(p, p) = diagonal(q);
    at(q, q) = first;
  }

  struct Pivot {
    int64_t row;
    int64_t size;
  };
  /// Which row goes to k, or with a block of two to k + 1.
  Pivot choose(int64_t k) const {
    const Real<T> alpha = (1 + std::sqrt(Real<T>(17))) / 8;
    const Real<T> here = magnitude(diagonal(k));
    int64_t largest = k;
    Real<T> column = 0;
    for (int64_t i = k + 1; i < n; ++i)
      if (magnitude(at(i, k)) > column) {
        column = magnitude(at(i, k));
        largest = i;
      }
    // NaN alone counts, too: there is no other row for a block of two.
    if (column == 0 && !(here > 0)) return {k, 0};
    if (here >= alpha * column) return {k, 1};
    Real<T> row = 0;
    for (int64_t j = k; j < largest; ++j)
      row = std::max(row, magnitude(at(largest, j)));
    for (int64_t i = largest + 1; i < n; ++i)
      row = std::max(row, magnitude(at(i, largest)));
    if (here >= alpha * column * (column / row)) return {k, 1};
    const bool one = magnitude(diagonal(largest)) >= alpha * row;
    return {largest, one ? 1 : 2};
  }

  void eliminate_one(int64_t k) const {
    const T pivot = at(k, k);
    for (int64_t i = k + 1; i < n; ++i) {
      const T factor = at(i, k) / pivot;
      for (int64_t j = k + 1; j <= i; ++j)
        at(i, j) -= factor * mirrored(at(j, k));
      if (hermitian) at(i, i) = diagonal(i);
    }
    for (int64_t i = k + 1; i < n; ++i) at(i, k) /= pivot;
  }

  /// (x, y) times the inverse of the block at k, divided by its element below
  /// the diagonal so that nothing overflows.
  void divide(int64_t k, T& x, T& y) const {
    const T below = at(k + 1, k);
    const Real<T> scale = std::abs(below);
    const T p = diagonal(k) / scale, q = diagonal(k + 1) / scale;
    const T turn = below / scale;
    const T determinant = (p * q - turn * mirrored(turn)) * scale;
    const T first = (x * q - y * turn) / determinant;
    y = (y * p - x * mirrored(turn)) / determinant;
    x = first;
  }

  void eliminate_two(int64_t k) const {
    std::vector<T> factors(size_t(2 * n));
    for (int64_t i = k + 2; i < n; ++i) {
      T &x = factors[2 * i], &y = factors[2 * i + 1];
      x = at(i, k);
      y = at(i, k + 1);
      divide(k, x, y);
      for (int64_t j = k + 2; j <= i; ++j)
        at(i, j) -= x * mirrored(at(j, k)) + y * mirrored(at(j, k + 1));
      if (hermitian) at(i, i) = diagonal(i);
    }
    for (int64_t i = k + 2; i < n; ++i) {
      at(i, k) = factors[2 * i];
      at(i, k + 1) = factors[2 * i + 1];
    }
  }

  /// Returns 1 + index of the first zero on D's diagonal, or 0.
  int64_t factor(int32_t* pivots) const {
    int64_t singular = 0;
    for (int64_t k = 0; k < n;) {
      if (hermitian) at(k, k) = diagonal(k);
      const Pivot pivot = choose(k);
      if (pivot.size == 0) {
        if (!singular) singular = k + 1;
        pivots[k++] = int32_t(pivot.row + 1);
        continue;
      }
      const int64_t to = k + pivot.size - 1;
      if (to != pivot.row) {
        exchange(to, pivot.row);
        if (pivot.size == 2) std::swap(at(to, k), at(pivot.row, k));
      }
      const auto named = int32_t(pivot.row + 1);
      if (pivot.size == 1) {
        pivots[k] = named;
        eliminate_one(k);
      } else {
        pivots[k] = pivots[k + 1] = -named;
        eliminate_two(k);
      }
      k += pivot.size;
    }
    return singular;
  }

  /// Solves in place for row-major x [n, width].
  void solve(const int32_t* pivots, T* x, int64_t width) const {
    const auto row = [&](int64_t i) { return x + i * width; };
    const auto swap_rows = [&](int64_t i, int64_t j) {
      if (i != j) std::swap_ranges(row(i), row(i) + width, row(j));
    };
    const auto subtract = [&](int64_t to, T factor, int64_t from) {
      for (int64_t j = 0; j < width; ++j) row(to)[j] -= factor * row(from)[j];
    };
    for (int64_t k = 0; k < n; ++k) {
      const int64_t size = pivots[k] > 0 ? 1 : 2;
      swap_rows(k + size - 1, std::abs(pivots[k]) - 1);
      for (int64_t i = k + size; i < n; ++i)
        for (int64_t c = k; c < k + size; ++c) subtract(i, at(i, c), c);
      for (int64_t j = 0; j < width && size == 1; ++j) row(k)[j] /= at(k, k);
      // D x = b is x^T = b^T D^-T; D^T is D, or its conjugate.
      for (int64_t j = 0; j < width && size == 2; ++j) {
        T first = mirrored(row(k)[j]), second = mirrored(row(k + 1)[j]);
        divide(k, first, second);
        row(k)[j] = mirrored(first);
        row(k + 1)[j] = mirrored(second);
      }
      k += size - 1;
    }
    for (int64_t k = n; k-- > 0;) {
      const int64_t size = pivots[k] > 0 ? 1 : 2;
      for (int64_t c = k; c > k - size; --c)
        for (int64_t i = k + 1; i < n; ++i) subtract(c, mirrored(at(i, c)), i);
      swap_rows(k, std::abs(pivots[k]) - 1);
      k -= size - 1;
    }
  }
};

constexpr KernelTypes<LinalgTypes> kLdlTypes{0, "ldl_factor"};

void ldl_factor(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const int64_t n = s.m;
  kLdlTypes.visit(call, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      T* ld = matrix<T>(call.tensor(0), b, n, n);
      const T* a = matrix<T>(call.tensor(3), b, n, n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          ld[i * n + j] = j <= i ? a[i * n + j] : T(0);
      const int64_t zero = Ldl<T>{ld, n, s.hermitian}.factor(
          matrix<int32_t>(call.tensor(1), b, n));
      set_info(call.tensor(2), b, zero);
      HOTARU_CHECK(
          !zero || !s.check, s.name, ": ", where(b, s.batched),
          "The diagonal element ", zero,
          " is zero, using it on ldl_solve would result in a division by "
          "zero. If you still want to perform the factorization, consider "
          "calling linalg.ldl_factor_ex");
    }
  });
}

constexpr KernelTypes<LinalgTypes> kSolveTypes{0, "ldl_solve"};

void ldl_solve(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const int64_t n = s.m;
  kSolveTypes.visit(call, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      T* x = matrix<T>(call.tensor(0), b, n, s.n);
      std::copy_n(matrix<T>(call.tensor(3), b, n, s.n), n * s.n, x);
      const int32_t* pivots = matrix<int32_t>(call.tensor(2), b, n);
      for (int64_t k = 0; k < n; ++k) {
        const bool two = pivots[k] < 0;
        HOTARU_CHECK(pivots[k] != 0 && std::abs(pivots[k]) <= n &&
                         (!two || (k + 1 < n && pivots[k + 1] == pivots[k])),
                     "linalg.ldl_solve: pivots are not those of ldl_factor");
        k += two;
      }
      const Ldl<T> ldl{matrix<T>(call.tensor(1), b, n, n), n, s.hermitian};
      ldl.solve(pivots, x, s.n);
    }
  });
}

HOTARU_KERNEL(kCPU, "linalg_ldl", ldl_factor, check_types<kLdlTypes>);
HOTARU_KERNEL(kCPU, "linalg_ldl_solve", ldl_solve, check_types<kSolveTypes>);

}  // namespace
}  // namespace hotaru::cpu
