// Dense factorisations of small matrices, one at a time (G. Golub and C. Van
// Loan, Matrix computations: 3.4 LU with partial pivoting, 4.2 Cholesky, 5.2
// QR by Householder reflections).
#include "hotaru/backend/common/linalg/linalg.h"

#include <cmath>
#include <memory>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"

namespace hotaru::cpu {
namespace {

template <class T>
using Real = decltype(std::abs(T()));

template <class T>
T conjugate(T x) {
  if constexpr (kIsComplex<T>)
    return std::conj(x);
  else
    return x;
}

// "(Batch element 3): " in messages about one of several matrices.
std::string where(int64_t i, bool batched) {
  return batched ? concat("(Batch element ", i, "): ") : std::string();
}

/// Row-major n x n, overwritten by L (unit diagonal, below) and U.
template <class T>
struct Lu {
  int64_t n;
  std::vector<T> a;
  std::vector<int64_t> rows;  // row i of LU is row rows[i] of the matrix
  bool odd = false;           // whether the permutation is
  int64_t singular = 0;       // 1 + index of the first zero pivot, or 0

  Lu(int64_t n, const T* matrix)
      : n(n), a(matrix, matrix + n * n), rows(static_cast<size_t>(n)) {
    for (int64_t i = 0; i < n; ++i) rows[i] = i;
    for (int64_t k = 0; k < n; ++k) {
      int64_t pivot = k;
      for (int64_t i = k + 1; i < n; ++i)
        if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
      if (pivot != k) {
        for (int64_t j = 0; j < n; ++j) std::swap(at(k, j), at(pivot, j));
        std::swap(rows[k], rows[pivot]);
        odd = !odd;
      }
      if (at(k, k) == T(0)) {
        if (!singular) singular = k + 1;
        continue;
      }
      for (int64_t i = k + 1; i < n; ++i) {
        const T factor = at(i, k) /= at(k, k);
        for (int64_t j = k + 1; j < n; ++j) at(i, j) -= factor * at(k, j);
      }
    }
  }
  T& at(int64_t i, int64_t j) { return a[i * n + j]; }

  /// x = A^-1 b for k right-hand sides, both row-major n x k.
  void solve(int64_t k, const T* b, T* x) {
    for (int64_t i = 0; i < n; ++i) {
      T* to = x + i * k;
      std::copy_n(b + rows[i] * k, k, to);
      for (int64_t p = 0; p < i; ++p)
        for (int64_t j = 0; j < k; ++j) to[j] -= at(i, p) * x[p * k + j];
    }
    for (int64_t i = n; i-- > 0;) {
      T* to = x + i * k;
      for (int64_t p = i + 1; p < n; ++p)
        for (int64_t j = 0; j < k; ++j) to[j] -= at(i, p) * x[p * k + j];
      for (int64_t j = 0; j < k; ++j) to[j] /= at(i, i);
    }
  }
};

constexpr KernelTypes<LinalgTypes> kSolveTypes{1, "linalg_solve_ex"};

void solve(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor &x = call.tensor(0), &a = call.tensor(1), &b = call.tensor(2);
  kSolveTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      Lu<T> lu(s.m, a.data<T>() + i * s.m * s.m);
      if (lu.singular && s.inverse)
        fail<LinAlgError>(
            "linalg.inv: ", where(i, s.batched), "The diagonal element ",
            lu.singular,
            " is zero, the inversion could not be completed because the "
            "input matrix is singular.");
      HOTARU_CHECK_AS(LinAlgError, !lu.singular,
                      "torch.linalg.solve: ", where(i, s.batched),
                      "The solver failed because the input matrix is "
                      "singular.");
      const int64_t size = s.m * s.n;
      lu.solve(s.n, b.data<T>() + i * size, x.data<T>() + i * size);
    }
  });
}

constexpr KernelTypes<LinalgTypes> kDeterminantTypes{3, "linalg_det"};

void determinant(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor &det = call.tensor(0), &sign = call.tensor(1);
  const Tensor &logabs = call.tensor(2), &a = call.tensor(3);
  kDeterminantTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      Lu<T> lu(s.m, a.data<T>() + i * s.m * s.m);
      T product = lu.odd ? T(-1) : T(1), direction = product;
      Real<T> size = 0;
      for (int64_t k = 0; k < s.m; ++k) {
        const T pivot = lu.at(k, k);
        const Real<T> magnitude = std::abs(pivot);
        product *= pivot;
        direction = magnitude == 0 ? T(0) : direction * (pivot / magnitude);
        size += std::log(magnitude);
      }
      det.data<T>()[i] = product;
      sign.data<T>()[i] = direction;
      logabs.data<Real<T>>()[i] = size;
    }
  });
}

constexpr KernelTypes<LinalgTypes> kCholeskyTypes{1, "linalg_cholesky"};

void cholesky(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor &out = call.tensor(0), &a = call.tensor(1);
  kCholeskyTypes.visit(call, [&]<class T>() {
    const int64_t n = s.m;
    for (int64_t i = 0; i < s.batch; ++i) {
      const T* from = a.data<T>() + i * n * n;
      T* l = out.data<T>() + i * n * n;
      std::fill_n(l, n * n, T(0));
      for (int64_t r = 0; r < n; ++r)
        for (int64_t c = 0; c <= r; ++c) {
          T sum = from[r * n + c];
          for (int64_t k = 0; k < c; ++k)
            sum -= l[r * n + k] * conjugate(l[c * n + k]);
          if (r != c) {
            l[r * n + c] = sum / l[c * n + c];
            continue;
          }
          const Real<T> diagonal = std::real(sum);
          HOTARU_CHECK_AS(LinAlgError, diagonal > 0, s.name, ": ",
                          where(i, s.batched),
                          "The factorization could not be completed because "
                          "the input is not positive-definite (the leading "
                          "minor of order ",
                          r + 1, " is not positive-definite).");
          l[r * n + r] = T(std::sqrt(diagonal));
        }
    }
  });
}

/// x -= tau v (v^H x) for the rows from `c` on of x, whose columns are `from`
/// to `to`; v is column c of w [m, n], but for its first element, 1. Row by
/// row, so that neighbours in memory are worked on together.
template <class T>
void reflect(const T* w, int64_t m, int64_t n, int64_t c, T tau, T* x,
             int64_t from, int64_t to, int64_t stride, T* dots) {
  for (int64_t j = from; j < to; ++j) dots[j] = x[c * stride + j];
  for (int64_t i = c + 1; i < m; ++i) {
    const T v = conjugate(w[i * n + c]);
    for (int64_t j = from; j < to; ++j) dots[j] += v * x[i * stride + j];
  }
  for (int64_t j = from; j < to; ++j) x[c * stride + j] -= dots[j] *= tau;
  for (int64_t i = c + 1; i < m; ++i) {
    const T v = w[i * n + c];
    for (int64_t j = from; j < to; ++j) x[i * stride + j] -= dots[j] * v;
  }
}

// q [m, k], r [k, n], a [m, n]; k is m or min(m, n). Reflections I - tau v v^H
// with v's first element 1, signs as in LAPACK.
template <class T>
void factor_qr(int64_t m, int64_t n, int64_t k, const T* a, T* q, T* r) {
  std::vector<T> w(a, a + m * n);
  const int64_t steps = std::min(m, n);
  std::vector<T> taus(static_cast<size_t>(steps));
  std::vector<T> dots(static_cast<size_t>(std::max(n, k)));
  for (int64_t c = 0; c < steps; ++c) {
    Real<T> below = 0;
    for (int64_t i = c + 1; i < m; ++i) below += std::norm(w[i * n + c]);
    const T alpha = w[c * n + c];
    if (below == 0 && std::imag(alpha) == 0) {
      taus[c] = T(0);
      continue;
    }
    const Real<T> length = std::sqrt(std::norm(alpha) + below);
    const Real<T> beta = std::real(alpha) > 0 ? -length : length;
    taus[c] = (T(beta) - alpha) / T(beta);
    const T scale = T(1) / (alpha - T(beta));
    for (int64_t i = c + 1; i < m; ++i) w[i * n + c] *= scale;
    w[c * n + c] = T(beta);
    reflect(w.data(), m, n, c, conjugate(taus[c]), w.data(), c + 1, n, n,
            dots.data());
  }
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) r[i * n + j] = i <= j ? w[i * n + j] : T(0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < k; ++j) q[i * k + j] = T(i == j);
  for (int64_t c = steps; c-- > 0;)
    reflect(w.data(), m, n, c, taus[c], q, 0, k, k, dots.data());
}

constexpr KernelTypes<LinalgTypes> kQrTypes{2, "linalg_qr"};

void qr(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor &q = call.tensor(0), &r = call.tensor(1), &a = call.tensor(2);
  const int64_t k = s.k;
  kQrTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i)
      factor_qr(s.m, s.n, k, a.data<T>() + i * s.m * s.n,
                q.data<T>() + i * s.m * k, r.data<T>() + i * k * s.n);
  });
}

HOTARU_KERNEL(kCPU, "linalg_solve", solve, check_types<kSolveTypes>);
HOTARU_KERNEL(kCPU, "linalg_determinant", determinant,
              check_types<kDeterminantTypes>);
HOTARU_KERNEL(kCPU, "linalg_cholesky", cholesky, check_types<kCholeskyTypes>);
HOTARU_KERNEL(kCPU, "linalg_qr", qr, check_types<kQrTypes>);

}  // namespace
}  // namespace hotaru::cpu
