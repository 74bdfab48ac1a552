// QR by Householder's reflections I - tau v v^H, v's first element 1, signs as
// in LAPACK (G. Golub and C. Van Loan, Matrix computations, 5.2).
#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {
namespace {

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

/// w [m, n] becomes R, and below its diagonal the v; taus [min(m, n)].
template <class T>
void factor(int64_t m, int64_t n, T* w, T* taus) {
  std::vector<T> dots(static_cast<size_t>(n));
  for (int64_t c = 0; c < std::min(m, n); ++c) {
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
    reflect(w, m, n, c, conjugate(taus[c]), w, c + 1, n, n, dots.data());
  }
}

/// q [m, k], the first columns of the product of `steps` reflections.
template <class T>
void product(const T* w, int64_t m, int64_t n, const T* taus, int64_t steps,
             T* q, int64_t k) {
  std::vector<T> dots(static_cast<size_t>(k));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < k; ++j) q[i * k + j] = T(i == j);
  for (int64_t c = steps; c-- > 0;)
    reflect(w, m, n, c, taus[c], q, 0, k, k, dots.data());
}

constexpr KernelTypes<LinalgTypes> kQrTypes{2, "geqrf_cpu"};

void qr(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const int64_t m = s.m, n = s.n, k = s.k, steps = std::min(m, n);
  kQrTypes.visit(call, [&]<class T>() {
    std::vector<T> taus(static_cast<size_t>(steps));
    for (int64_t b = 0; b < s.batch; ++b) {
      const T* a = matrix<T>(call.tensor(2), b, m, n);
      T* r = matrix<T>(call.tensor(1), b, k, n);
      std::vector<T> w(a, a + m * n);
      factor(m, n, w.data(), taus.data());
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < n; ++j)
          r[i * n + j] = i <= j ? w[i * n + j] : T(0);
      product(w.data(), m, n, taus.data(), steps,
              matrix<T>(call.tensor(0), b, m, k), k);
    }
  });
}

constexpr KernelTypes<LinalgTypes> kGeqrfTypes{0, "geqrf_cpu"};

void geqrf(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  kGeqrfTypes.visit(call, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      T* w = matrix<T>(call.tensor(0), b, s.m, s.n);
      std::copy_n(matrix<T>(call.tensor(2), b, s.m, s.n), s.m * s.n, w);
      factor(s.m, s.n, w, matrix<T>(call.tensor(1), b, std::min(s.m, s.n)));
    }
  });
}

constexpr KernelTypes<LinalgTypes> kProductTypes{0, "orgqr_cpu"};

void householder(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  kProductTypes.visit(call, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b)
      product(matrix<T>(call.tensor(1), b, s.m, s.n), s.m, s.n,
              matrix<T>(call.tensor(2), b, s.k), s.k,
              matrix<T>(call.tensor(0), b, s.m, s.n), s.n);
  });
}

HOTARU_KERNEL(kCPU, "linalg_qr", qr, check_types<kQrTypes>);
HOTARU_KERNEL(kCPU, "linalg_geqrf", geqrf, check_types<kGeqrfTypes>);
HOTARU_KERNEL(kCPU, "linalg_householder", householder,
              check_types<kProductTypes>);

}  // namespace
}  // namespace hotaru::cpu
