// e^A by scaling and squaring of Taylor's polynomial of degree 16, in six
// products (M. Paterson and L. Stockmeyer, On the number of nonscalar
// multiplications necessary to evaluate polynomials, 1973). Always in 64 bits:
// squarings double the error.
#include <algorithm>
#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {
namespace {

template <class T>
using Matrix = std::vector<T>;

template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b, int64_t n) {
  Matrix<T> out(a.size());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t p = 0; p < n; ++p) {
      const T factor = a[i * n + p];
      for (int64_t j = 0; j < n; ++j) out[i * n + j] += factor * b[p * n + j];
    }
  return out;
}

/// The norm that is the greatest sum of a row; NaN if there is one.
template <class T>
double norm(const Matrix<T>& a, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::abs(a[i * n + j]);
    if (!(sum <= most)) most = sum;
  }
  return most;
}

template <class T>
Matrix<T> exponential(Matrix<T> a, int64_t n) {
  constexpr int kBlock = 4;
  // 0.75^17 / 17! is less than half a unit in the last place of 1.
  int halvings = 0;
  for (double left = norm(a, n); left > 0.75 && std::isfinite(left); left /= 2)
    ++halvings;
  const auto scale = static_cast<Real<T>>(std::ldexp(1.0, -halvings));
  for (T& x : a) x *= scale;
  Matrix<T> powers[kBlock + 1];
  powers[1] = std::move(a);
  for (int p = 2; p <= kBlock; ++p)
    powers[p] = product(powers[p - 1], powers[1], n);
  Real<T> coefficients[kBlock * kBlock + 1] = {1};
  for (int p = 1; p <= kBlock * kBlock; ++p)
    coefficients[p] = coefficients[p - 1] / Real<T>(p);
  Matrix<T> out = powers[kBlock];
  for (T& x : out) x *= coefficients[kBlock * kBlock];
  for (int block = kBlock - 1; block >= 0; --block) {
    if (block < kBlock - 1) out = product(out, powers[kBlock], n);
    const Real<T>* c = coefficients + block * kBlock;
    for (int p = 1; p < kBlock; ++p)
      for (size_t i = 0; i < out.size(); ++i) out[i] += c[p] * powers[p][i];
    for (int64_t i = 0; i < n; ++i) out[i * n + i] += c[0];
  }
  for (; halvings > 0; --halvings) out = product(out, out, n);
  return out;
}

constexpr KernelTypes<LinalgTypes> kTypes{0, "matrix_exp"};

void matrix_exp(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  kTypes.visit(call, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      using Wide =
          std::conditional_t<kIsComplex<T>, std::complex<double>, double>;
      const T* a = matrix<T>(call.tensor(1), b, s.m, s.m);
      const auto e = exponential(Matrix<Wide>(a, a + s.m * s.m), s.m);
      std::transform(e.begin(), e.end(), matrix<T>(call.tensor(0), b, s.m, s.m),
                     [](Wide x) { return static_cast<T>(x); });
    }
  });
}

HOTARU_KERNEL(kCPU, "linalg_matrix_exp", matrix_exp, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
