// Eigenvalues and eigenvectors of Hermitian matrices: by way of a tridiagonal
// one.
#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/tridiagonal.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/special_errors.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<LinalgTypes> kTypes{2, "linalg_eigh_cpu"};

/// The upper triangle that the lower one of a stands for, times the factor by
/// which its numbers are in range; that is returned, 0 if one is not finite.
template <class T>
Real<T> upper_triangle(int64_t n, const T* a, T* to) {
  using R = Real<T>;
  R largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const R row = largest_part(i + 1, a + i * n);
    if (!std::isfinite(row)) return 0;
    largest = std::max(largest, row);
  }
  const R scale = safe_scale(largest);
  transpose(n, n, a, n, to, n, [scale](T x) { return conjugate(x) * scale; });
  return scale;
}

constexpr int64_t kNotFinite = -1, kNotConverged = 1;

/// values [n] and, unless null, vectors [n, n]. Returns one of these or 0.
template <class T>
int64_t solve(int64_t n, const T* from, Real<T>* values, T* vectors) {
  using R = Real<T>;
  std::vector<T> a(size_t(n * n)), taus(static_cast<size_t>(n));
  std::vector<R> d(static_cast<size_t>(n)), e(d);
  R scale = upper_triangle(n, from, a.data());
  if (scale == 0) return kNotFinite;
  tridiagonalize(n, a.data(), d.data(), e.data(), taus.data());

  const R largest =
      std::max(largest_part(n, d.data()), largest_part(n - 1, e.data()));
  if (largest > 0) {
    for (R& x : d) x /= largest;
    for (R& x : e) x /= largest;
  }
  const auto value = [&](R x) {
    return largest > 0 ? x * largest / scale : R(0);
  };
  if (!vectors) {
    if (!tridiagonal_values(n, d.data(), e.data())) return kNotConverged;
    std::transform(d.begin(), d.end(), values, value);
    return 0;
  }
  TridiagonalDivide<R> divide;
  if (!divide.solve(n, d.data(), e.data())) return kNotConverged;
  for (int64_t i = 0; i < n; ++i)
    values[i] = value(d[size_t(divide.order()[size_t(i)])]);
  divide.copy_vectors(vectors);
  apply_tridiagonal_basis(n, a.data(), taus.data(), n, vectors);
  return 0;
}

void eigh(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor& vectors = call.tensor(1);
  const int64_t n = s.m;
  if (n == 0) return;
  kTypes.visit(call, [&]<class T>() {
    const auto errors = for_matrices(s.batch, n * n * n, [&](int64_t i) {
      return solve(n, matrix<T>(call.tensor(2), i, n, n),
                   matrix<Real<T>>(call.tensor(0), i, n),
                   vectors.defined() ? matrix<T>(vectors, i, n, n) : nullptr);
    });
    for (int64_t i = 0; i < s.batch; ++i)
      HOTARU_CHECK_AS(LinAlgError, errors[size_t(i)] == 0, s.name, ": ",
                      where(i, s.batched),
                      "The algorithm failed to converge because the input "
                      "matrix is ill-conditioned or has too many repeated "
                      "eigenvalues (error code: ",
                      errors[size_t(i)] == kNotFinite ? n - 1 : 1, ").");
  });
}

HOTARU_KERNEL(kCPU, "linalg_eigh", eigh, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
