// QR by Householder's reflections, by blocks of columns (G. Golub and C. Van
// Loan, Matrix computations, 5.2).
#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/backend/cpu/linalg/reflectors.h"

namespace hotaru::cpu {
namespace {

/// Columns that are worked on one after the other, and those whose reflections
/// are applied to the rest of the matrix together.
constexpr int64_t kColumns = 8, kBlock = 32;

/// x -= tau v (v^H x) for columns `from` on of x [m, kColumns], v column
/// from - 1, but for its first element, 1. Whole rows, so that neighbours in
/// memory are worked on together.
template <class T>
void reflect(int64_t m, T tau, T* x, int64_t from) {
  T dots[kColumns];
  std::copy_n(x, kColumns, dots);
  for (int64_t i = 1; i < m; ++i) {
    const T* row = x + i * kColumns;
    const T factor = conjugate(row[from - 1]);
    for (int64_t j = 0; j < kColumns; ++j) dots[j] += product(factor, row[j]);
  }
  for (int64_t j = 0; j < kColumns; ++j)
    dots[j] = j < from ? T(0) : product(dots[j], tau);
  for (int64_t j = 0; j < kColumns; ++j) x[j] -= dots[j];
  for (int64_t i = 1; i < m; ++i) {
    T* row = x + i * kColumns;
    const T factor = row[from - 1];
    for (int64_t j = 0; j < kColumns; ++j) row[j] -= product(dots[j], factor);
  }
}

/// factor_qr() for at most kColumns columns, in memory where rows are
/// neighbours.
template <class T>
void factor_columns(int64_t m, int64_t columns, T* w, int64_t n, T* taus) {
  std::vector<T> panel(size_t(m * kColumns));
  for (int64_t i = 0; i < m; ++i)
    std::copy_n(w + i * n, columns, panel.data() + i * kColumns);
  for (int64_t c = 0; c < std::min(m, columns); ++c) {
    T* row = panel.data() + c * kColumns;
    taus[c] = reflector(m - c, row + c, kColumns);
    if (taus[c] != T(0)) reflect(m - c, conjugate(taus[c]), row, c + 1);
  }
  for (int64_t i = 0; i < m; ++i)
    std::copy_n(panel.data() + i * kColumns, columns, w + i * n);
}

}  // namespace

template <class T>
void factor_qr(int64_t m, int64_t columns, T* w, int64_t n, T* taus,
               int64_t more) {
  if (columns <= kColumns && more == 0)
    return factor_columns(m, columns, w, n, taus);
  const int64_t block = columns > kBlock ? kBlock : kColumns;
  const int64_t steps = std::min(m, columns);
  for (int64_t c = 0; c < steps; c += block) {
    const int64_t rows = m - c, width = std::min(block, steps - c);
    const int64_t rest = columns + more - c - width;
    T* at = w + c * n + c;
    factor_qr(rows, width, at, n, taus + c);
    if (rest > 0)
      BlockReflector<T>(rows, width, at, n, taus + c)
          .apply(true, rest, at + width, n);
  }
}

#define HOTARU_INSTANTIATE(T) \
  template void factor_qr(int64_t, int64_t, T*, int64_t, T*, int64_t);
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
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
