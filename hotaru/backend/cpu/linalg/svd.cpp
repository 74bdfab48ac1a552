// Singular values and vectors: by way of a bidiagonal matrix. Of wide matrices
// those of the adjoint; of tall ones those of R in A = QR.
#include <functional>
#include <memory>

#include "hotaru/backend/cpu/linalg/bidiagonal.h"
#include "hotaru/backend/cpu/linalg/condensed.h"
#include "hotaru/backend/cpu/linalg/reflectors.h"
#include "hotaru/backend/cpu/linalg/vectors.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<LinalgTypes> kTypes{3, "linalg_svd_cpu"};

enum Outcome : int64_t { kDone, kNotFinite, kNotConverged };

/// A = QR of a [m, n], m >= n, whose rows 0 to n become R.
template <class T>
class TallFactor {
 public:
  TallFactor(int64_t m, int64_t n, T* a)
      : m_(m), n_(n), v_(size_t(n * m)), taus_(size_t(n)) {
    constexpr int64_t kPanel = 32;
    const auto same = [](T x) { return x; };
    for (int64_t j = 0; j < n; j += kPanel) {
      const int64_t width = std::min(kPanel, n - j), end = j + width;
      transpose(m, width, a + j, n, v_.data() + j * m, m, same);
      for (int64_t c = j; c < end; ++c) factor(c, end);
      const BlockReflector<T> block(
          m - j, width, {v_.data() + j * (m + 1), 1, m}, taus_.data() + j);
      block.apply(true, n - end, a + j * n + end, n);
      for (int64_t c = j; c < end; ++c)
        for (int64_t i = 0; i < n; ++i)
          a[i * n + c] = i <= c ? v_[size_t(c * m + i)] : T(0);
    }
  }

  void apply(int64_t columns, T* c) const {
    apply_reflections(m_, n_, {v_.data(), 1, m_}, taus_.data(), columns, c,
                      columns);
  }

 private:
  /// Column c, and what its reflection does to those before `end`.
  void factor(int64_t c, int64_t end) {
    const int64_t rows = m_ - c;
    T* v = v_.data() + c * m_ + c;
    const T tau = taus_[size_t(c)] = reflector(rows, v, 1);
    const T beta = v[0];
    v[0] = T(1);
    for (int64_t j = c + 1; j < end; ++j) {
      T* x = v_.data() + j * m_ + c;
      add_multiple(rows, -conjugate(tau) * dot(rows, v, x), v, x);
    }
    v[0] = beta;
  }

  int64_t m_, n_;
  std::vector<T> v_, taus_;  // by rows
};

/// The problem of a matrix [m, n], m >= n.
template <class T>
class TallSvd {
 public:
  TallSvd(int64_t m, int64_t n, std::vector<T> a) : m_(m), n_(n), a_(std::move(a)) {}

  /// values [n] and, unless null, u [m, columns], columns being m or n, and
  /// v [n, n].
  Outcome solve(Real<T>* values, T* u, int64_t columns, T* v) {
    using R = Real<T>;
    const R size = largest_part(m_ * n_, a_.data());
    if (!std::isfinite(size)) return kNotFinite;
    const R scale = safe_scale(size);
    if (scale != 1)
      for (T& x : a_) x *= scale;
    std::unique_ptr<TallFactor<T>> tall;
    int64_t rows = m_;
    if (2 * m_ >= 3 * n_ && m_ > n_) {
      tall = std::make_unique<TallFactor<T>>(m_, n_, a_.data());
      rows = n_;
    }
    std::vector<R> d(static_cast<size_t>(n_)), e(d);
    const Bidiagonal<T> reduced(rows, n_, a_.data(), d.data(), e.data());
    const R largest = std::max(largest_part(n_, d.data()),
                               largest_part(n_ - 1, e.data()));
    if (largest > 0) {
      for (R& x : d) x /= largest;
      for (R& x : e) x /= largest;
    }
    const auto value = [&](R x) {
      return largest > 0 ? x * largest / scale : R(0);
    };
    if (!u) {
      if (!bidiagonal_rotations<R>(n_, false, d.data(), e.data(), nullptr,
                                   nullptr, 0))
        return kNotConverged;
      std::sort(d.begin(), d.end(), std::greater<R>());
      std::transform(d.begin(), d.end(), values, value);
      return kDone;
    }
    BidiagonalDivide<R> divide;
    if (!divide.solve(n_, d.data(), e.data())) return kNotConverged;
    for (int64_t i = 0; i < n_; ++i)
      values[i] = value(d[size_t(divide.order()[size_t(i)])]);
    std::fill_n(u, m_ * columns, T(0));
    divide.copy_left(u, columns);
    for (int64_t i = n_; i < columns; ++i) u[i * columns + i] = T(1);
    reduced.apply_left(tall ? n_ : columns, u, columns);
    if (tall) tall->apply(columns, u);
    divide.copy_right(v, n_);
    reduced.apply_right(n_, v, n_);
    return kDone;
  }

 private:
  int64_t m_, n_;
  std::vector<T> a_;
};

/// u [m, rows_u] and vh [columns_v, n], or null both.
template <class T>
Outcome solve(int64_t m, int64_t n, const T* a, Real<T>* values, T* u,
              int64_t of_u, T* vh, int64_t of_v) {
  const auto adjoint = [](T x) { return conjugate(x); };
  const size_t size = static_cast<size_t>(m * n);
  if (m >= n) {
    TallSvd<T> tall(m, n, std::vector<T>(a, a + size));
    if (!u) return tall.solve(values, nullptr, 0, nullptr);
    std::vector<T> v(static_cast<size_t>(n * n));
    const Outcome outcome = tall.solve(values, u, of_u, v.data());
    transpose(n, n, v.data(), n, vh, n, adjoint);
    return outcome;
  }
  std::vector<T> turned(size);
  transpose(m, n, a, n, turned.data(), m, adjoint);
  TallSvd<T> tall(n, m, std::move(turned));
  if (!u) return tall.solve(values, nullptr, 0, nullptr);
  std::vector<T> v(static_cast<size_t>(n * of_v));
  const Outcome outcome = tall.solve(values, v.data(), of_v, u);
  transpose(n, of_v, v.data(), of_v, vh, n, adjoint);
  return outcome;
}

template <class T>
void set_identity(int64_t rows, int64_t columns, T* a) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) a[i * columns + j] = T(i == j);
}

void svd(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor &u = call.tensor(1), &vh = call.tensor(2);
  const int64_t k = std::min(s.m, s.n);
  const int64_t of_u = u.defined() ? u.size(-1) : 0;
  const int64_t of_v = vh.defined() ? vh.size(-2) : 0;
  kTypes.visit(call, [&]<class T>() {
    const auto errors = for_matrices(s.batch, s.m * s.n * k, [&](int64_t i) {
      T* to_u = u.defined() ? matrix<T>(u, i, s.m, of_u) : nullptr;
      T* to_vh = vh.defined() ? matrix<T>(vh, i, of_v, s.n) : nullptr;
      if (k > 0)
        return solve(s.m, s.n, matrix<T>(call.tensor(3), i, s.m, s.n),
                     matrix<Real<T>>(call.tensor(0), i, k), to_u, of_u, to_vh,
                     of_v);
      if (to_u) {  // bases that nothing turns
        set_identity(s.m, of_u, to_u);
        set_identity(of_v, s.n, to_vh);
      }
      return kDone;
    });
    for (int64_t i = 0; i < s.batch; ++i)
      HOTARU_CHECK_AS(LinAlgError, errors[size_t(i)] == kDone, s.name, ": ",
                      where(i, s.batched),
                      "The algorithm failed to converge because the input "
                      "matrix ",
                      errors[size_t(i)] == kNotFinite
                          ? "contained non-finite values."
                          : "is ill-conditioned or has too many repeated "
                            "singular values (error code: 1).");
  });
}

HOTARU_KERNEL(kCPU, "linalg_svd", svd, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
