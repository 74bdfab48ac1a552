// QR by Householder's reflections, by blocks of columns (G. Golub and C. Van
// Loan, Matrix computations, 5.2).
#include "hotaru/backend/cpu/linalg/reflectors.h"

namespace hotaru::cpu {
namespace {

/// Columns that are worked on one after the other, and those whose reflections
/// are applied to the rest of the matrix together.
constexpr int64_t kColumns = 8, kBlock = 32;

/// x -= tau v (v^H x) for `columns` columns of x, rows n apart; v is column 0
/// of w, but for its first element, 1. Row by row, so that neighbours in memory
/// are worked on together.
template <class T>
void reflect(const T* w, int64_t m, int64_t n, T tau, T* x, int64_t columns) {
  T dots[kColumns];
  std::copy_n(x, columns, dots);
  for (int64_t i = 1; i < m; ++i) {
    const T v = conjugate(w[i * n]);
    for (int64_t j = 0; j < columns; ++j) dots[j] += v * x[i * n + j];
  }
  for (int64_t j = 0; j < columns; ++j) x[j] -= dots[j] *= tau;
  for (int64_t i = 1; i < m; ++i) {
    const T v = w[i * n];
    for (int64_t j = 0; j < columns; ++j) x[i * n + j] -= dots[j] * v;
  }
}

}  // namespace

template <class T>
void factor_qr(int64_t m, int64_t columns, T* w, int64_t n, T* taus) {
  const int64_t steps = std::min(m, columns);
  if (columns <= kColumns) {
    for (int64_t c = 0; c < steps; ++c) {
      T* at = w + c * n + c;
      taus[c] = reflector(m - c, at, n);
      if (taus[c] != T(0))
        reflect(at, m - c, n, conjugate(taus[c]), at + 1, columns - c - 1);
    }
    return;
  }
  const int64_t block = columns > kBlock ? kBlock : kColumns;
  std::vector<T> panel;
  for (int64_t c = 0; c < steps; c += block) {
    const int64_t rows = m - c, width = std::min(block, steps - c);
    T* at = w + c * n + c;
    if (block == kBlock) {  // its rows would be far apart
      panel.resize(static_cast<size_t>(rows * width));
      for (int64_t i = 0; i < rows; ++i)
        std::copy_n(at + i * n, width, panel.data() + i * width);
      factor_qr(rows, width, panel.data(), width, taus + c);
      for (int64_t i = 0; i < rows; ++i)
        std::copy_n(panel.data() + i * width, width, at + i * n);
    } else {
      factor_qr(rows, width, at, n, taus + c);
    }
    if (c + width < columns)
      BlockReflector<T>(rows, width, at, n, taus + c)
          .apply(true, columns - c - width, at + width, n);
  }
}

#define HOTARU_INSTANTIATE(...) \
  template void factor_qr(int64_t, int64_t, __VA_ARGS__*, int64_t, \
                          __VA_ARGS__*);
HOTARU_INSTANTIATE(float)
HOTARU_INSTANTIATE(double)
HOTARU_INSTANTIATE(std::complex<float>)
HOTARU_INSTANTIATE(std::complex<double>)
#undef HOTARU_INSTANTIATE

namespace {

/// q [m, k], the first columns of the product of `steps` reflections.
template <class T>
void first_columns(const T* w, int64_t m, int64_t n, const T* taus,
                   int64_t steps, T* q, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < k; ++j) q[i * k + j] = T(i == j);
  // The reflections from c on leave the columns before c as they are.
  for (int64_t c = (steps - 1) / kBlock * kBlock; c >= 0; c -= kBlock)
    BlockReflector<T>(m - c, std::min(kBlock, steps - c), w + c * n + c, n,
                      taus + c)
        .apply(false, k - c, q + c * k + c, k);
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
      factor_qr(m, n, w.data(), n, taus.data());
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < n; ++j)
          r[i * n + j] = i <= j ? w[i * n + j] : T(0);
      first_columns(w.data(), m, n, taus.data(), steps,
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
      factor_qr(s.m, s.n, w, s.n,
                matrix<T>(call.tensor(1), b, std::min(s.m, s.n)));
    }
  });
}

constexpr KernelTypes<LinalgTypes> kProductTypes{0, "orgqr_cpu"};

void householder(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  kProductTypes.visit(call, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b)
      first_columns(matrix<T>(call.tensor(1), b, s.m, s.n), s.m, s.n,
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
