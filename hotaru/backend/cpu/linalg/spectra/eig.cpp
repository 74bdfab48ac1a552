// Eigenvalues and eigenvectors of general matrices: by way of Schur's form.
#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/schur.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/special_errors.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<LinalgTypes> kTypes{2, "linalg_eig_out_cpu"};

enum Outcome : int64_t { kDone, kNotFinite, kNotConverged };

/// Columns get length 1, and of complex ones the largest element is real.
template <class R>
void normalise(int64_t n, const std::vector<bool>& real, std::complex<R>* v) {
  using C = std::complex<R>;
  std::vector<R> sizes(static_cast<size_t>(n)), sums(sizes);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      sizes[size_t(j)] = std::max(sizes[size_t(j)], magnitude(v[i * n + j]));
  std::vector<R> largest(size_t(n), R(-1));
  std::vector<C> factors(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      C& x = v[i * n + j];
      if (sizes[size_t(j)] > 0) x /= sizes[size_t(j)];
      const R square = std::norm(x);
      sums[size_t(j)] += square;
      if (square > largest[size_t(j)]) {
        largest[size_t(j)] = square;
        factors[size_t(j)] = std::conj(x);
      }
    }
  for (int64_t j = 0; j < n; ++j) {
    const R length = std::sqrt(sums[size_t(j)]);
    C& factor = factors[size_t(j)];
    if (real[size_t(j)] || factor == C(0))
      factor = length > 0 ? 1 / length : R(1);
    else
      factor /= std::abs(factor) * length;
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      v[i * n + j] = product(v[i * n + j], factors[size_t(j)]);
}

/// values [n] and, unless null, vectors [n, n].
template <class T>
Outcome solve(int64_t n, const T* from, std::complex<Real<T>>* values,
              std::complex<Real<T>>* vectors) {
  using R = Real<T>;
  const R size = largest_part(n * n, from);
  if (!std::isfinite(size)) return kNotFinite;
  std::vector<T> a(from, from + n * n), z;
  R scale = 1;  // takes the largest element to about 1
  if (size > 0) {
    int exponent = 0;
    std::frexp(size, &exponent);
    constexpr int kMost = std::numeric_limits<R>::max_exponent - 2;
    scale = std::ldexp(R(1), -std::clamp(exponent, -kMost, kMost));
    for (T& x : a) x *= scale;
  }
  const Balance<T> balance(n, a.data());
  if (vectors) z.resize(size_t(n * n));
  T* to_z = vectors ? z.data() : nullptr;
  hessenberg(n, balance.low(), balance.high(), a.data(), to_z);
  if (!schur(n, balance.low(), balance.high(), a.data(), to_z))
    return kNotConverged;
  block_values(n, a.data(), n, values);
  if (vectors) {
    schur_vectors(n, a.data(), to_z, values, vectors);
    balance.restore(vectors);
    std::vector<bool> real(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i)
      real[size_t(i)] = !kIsComplex<T> && values[i].imag() == 0;
    normalise(n, real, vectors);
  }
  for (int64_t i = 0; i < n; ++i) values[i] /= scale;
  return kDone;
}

void eig(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor& vectors = call.tensor(1);
  const int64_t n = s.m;
  if (n == 0) return;
  kTypes.visit(call, [&]<class T>() {
    using C = std::complex<Real<T>>;
    const auto errors = for_matrices(s.batch, n * n * n, [&](int64_t i) {
      return solve(n, matrix<T>(call.tensor(2), i, n, n),
                   matrix<C>(call.tensor(0), i, n),
                   vectors.defined() ? matrix<C>(vectors, i, n, n) : nullptr);
    });
    for (int64_t i = 0; i < s.batch; ++i) {
      HOTARU_CHECK(errors[size_t(i)] != kNotFinite, s.name,
                   ": input tensor should not contain infs or NaNs.");
      HOTARU_CHECK_AS(LinAlgError, errors[size_t(i)] == kDone, s.name, ": ",
                      where(i, s.batched), "The algorithm failed to converge.");
    }
  });
}

HOTARU_KERNEL(kCPU, "linalg_eig", eig, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
