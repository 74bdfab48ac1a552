// Singular values and vectors: by way of a bidiagonal matrix. Of wide matrices
// those of the adjoint; of tall ones those of R in A = QR.
#include <algorithm>
#include <functional>
#include <type_traits>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/backend/cpu/linalg/reflectors.h"
#include "hotaru/backend/cpu/linalg/spectra/bidiagonal.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/singular_values.h"
#include "hotaru/backend/cpu/linalg/vectors.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/special_errors.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<LinalgTypes> kTypes{3, "linalg_svd_cpu"};

using enum SvdOutcome;

/// The problem of a matrix [m, n], m >= n.
template <class T>
class TallSvd {
 public:
  TallSvd(int64_t m, int64_t n, std::vector<T> a)
      : m_(m), n_(n), a_(std::move(a)) {}

  /// values [n] and, unless null, u [m, columns], columns being m or n, and
  /// v [n, n].
  SvdOutcome solve(Real<T>* values, T* u, int64_t columns, T* v) {
    using R = Real<T>;
    const R size = largest_part(m_ * n_, a_.data());
    if (!std::isfinite(size)) return kNotFinite;
    const R scale = safe_scale(size);
    if (scale != 1)
      for (T& x : a_) x *= scale;
    const bool tall = 2 * m_ >= 3 * n_ && m_ > n_;
    std::vector<T> reflections, taus;
    if (tall) {
      reflections = a_;
      taus.resize(size_t(n_));
      factor_qr(m_, n_, reflections.data(), n_, taus.data());
      for (int64_t i = 0; i < n_; ++i)
        for (int64_t j = 0; j < n_; ++j) {
          const size_t at = size_t(i * n_ + j);
          a_[at] = i <= j ? reflections[at] : T(0);
        }
    }
    const int64_t rows = tall ? n_ : m_;
    std::vector<R> d(static_cast<size_t>(n_)), e(d);
    const Bidiagonal<T> reduced(rows, n_, a_.data(), d.data(), e.data());
    const R largest =
        std::max(largest_part(n_, d.data()), largest_part(n_ - 1, e.data()));
    if (largest > 0) {
      for (R& x : d) x /= largest;
      for (R& x : e) x /= largest;
    }
    const auto value = [&](R x) {
      return largest > 0 ? x * largest / scale : R(0);
    };
    if (!u) {
      std::vector<R> found(d);
      if (bidiagonal_values(n_, d.data(), e.data(), found.data()))
        d.swap(found);
      else if (!bidiagonal_rotations<R>(n_, false, d.data(), e.data(), nullptr,
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
    if (tall)
      apply_reflections(m_, n_, {reflections.data(), n_, 1}, taus.data(),
                        columns, u, columns);
    divide.copy_right(v, n_);
    reduced.apply_right(n_, v, n_);
    return kDone;
  }

 private:
  int64_t m_, n_;
  std::vector<T> a_;
};

/// Matrices that are solved in double: their time is that of the steps, not of
/// the arithmetic.
constexpr int64_t kTiny = 16;

template <class T>
using Wide = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

}  // namespace

template <class T>
SvdOutcome singular_values(int64_t m, int64_t n, const T* a, Real<T>* values,
                           T* u, int64_t of_u, T* vh, int64_t of_v) {
  if constexpr (!std::is_same_v<T, Wide<T>>) {
    if (std::max(m, n) <= kTiny) {
      Wide<T> wide_a[kTiny * kTiny], wide_u[kTiny * kTiny],
          wide_vh[kTiny * kTiny];
      double wide_values[kTiny];
      std::copy_n(a, m * n, wide_a);
      const SvdOutcome outcome = singular_values<Wide<T>>(
          m, n, wide_a, wide_values, u ? wide_u : nullptr, of_u,
          vh ? wide_vh : nullptr, of_v);
      const auto narrow = [](Wide<T> x) { return static_cast<T>(x); };
      std::copy_n(wide_values, std::min(m, n), values);
      if (u) std::transform(wide_u, wide_u + m * of_u, u, narrow);
      if (vh) std::transform(wide_vh, wide_vh + of_v * n, vh, narrow);
      return outcome;
    }
  }
  const auto adjoint = [](T x) { return conjugate(x); };
  const size_t size = size_t(m * n);
  if (m >= n) {
    TallSvd<T> tall(m, n, std::vector<T>(a, a + size));
    if (!u) return tall.solve(values, nullptr, 0, nullptr);
    std::vector<T> v(size_t(n * n));
    const SvdOutcome outcome = tall.solve(values, u, of_u, v.data());
    transpose(n, n, v.data(), n, vh, n, adjoint);
    return outcome;
  }
  std::vector<T> turned(size);
  transpose(m, n, a, n, turned.data(), m, adjoint);
  TallSvd<T> tall(n, m, std::move(turned));
  if (!u) return tall.solve(values, nullptr, 0, nullptr);
  std::vector<T> v(size_t(n * of_v));
  const SvdOutcome outcome = tall.solve(values, v.data(), of_v, u);
  transpose(n, of_v, v.data(), of_v, vh, n, adjoint);
  return outcome;
}

#define HOTARU_INSTANTIATE(T) \
  template SvdOutcome singular_values(int64_t, int64_t, const T*, Real<T>*, \
                                      T*, int64_t, T*, int64_t);
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

std::string singular_values_failed(SvdOutcome outcome) {
  return concat(
      "The algorithm failed to converge because the input matrix ",
      outcome == SvdOutcome::kNotFinite
          ? "contained non-finite values."
          : "is ill-conditioned or has too many repeated singular values "
            "(error code: 1).");
}

namespace {

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
        return int64_t(singular_values(
            s.m, s.n, matrix<T>(call.tensor(3), i, s.m, s.n),
            matrix<Real<T>>(call.tensor(0), i, k), to_u, of_u, to_vh, of_v));
      if (u.defined()) {  // bases that nothing turns
        set_identity(s.m, of_u, to_u);
        set_identity(of_v, s.n, to_vh);
      }
      return int64_t(kDone);
    });
    for (int64_t i = 0; i < s.batch; ++i) {
      const auto outcome = SvdOutcome(errors[size_t(i)]);
      HOTARU_CHECK_AS(LinAlgError, outcome == kDone, s.name, ": ",
                      where(i, s.batched), singular_values_failed(outcome));
    }
  });
}

HOTARU_KERNEL(kCPU, "linalg_svd", svd, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
