// The exponential of matrices, common/linalg/exponential.h says how; see
// params/linalg.h.
#include <iterator>
#include <utility>

#include "hotaru/backend/common/linalg/exponential.h"
#include "hotaru/backend/cuda/device/linalg/team.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// Devices have none of the host's tables: the compiler reads them.
template <const auto& table, int kRow, int kTerm>
consteval double entry() {
  return table[kRow][kTerm];
}
template <class R>
consteval double limit(int choice) {
  return exponential::kLimits<R>[choice];
}
consteval int degree_of(int choice) {
  return exponential::kDegrees[choice];
}

/// The matrix [n, n] whose powers and sums of powers are in the workspace.
template <class T>
struct Exponential {
  using R = Real<T>;

  int n;
  T* room;  // kExponentialPowers powers, of which A is the first; then sums

  __device__ T* power(int i) const { return room + int64_t(i) * n * n; }
  __device__ T* sum(int i) const { return power(kExponentialPowers + i); }

  /// The greatest sum of a row's moduli; NaN if there is one.
  __device__ double norm(const T* a) const {
    double most = 0;
    int bad = 0;
    for_line(0, n, [&](int i) {
      double total = 0;
      for (int j = 0; j < n; ++j) total += modulus(a[int64_t(i) * n + j]);
      if (total > most) most = total;
      bad |= total != total;
    });
    most = largest_block(most);
    return __syncthreads_or(bad) ? double(NAN) : most;
  }

  /// c = a b, or c += a b. Ends with a barrier.
  __device__ void multiply(const T* a, const T* b, bool add, T* c) const {
    for_matrix(n, n, [&](int i, int j) {
      T total(0);
      for (int k = 0; k < n; ++k)
        total += product(a[int64_t(i) * n + k], b[int64_t(k) * n + j]);
      T& to = c[int64_t(i) * n + j];
      to = add ? to + total : total;
    });
    __syncthreads();
  }

  /// Sums of I and the first powers.
  template <const auto& table>
  __device__ void combine() const {
    constexpr int kTerms = sizeof(table[0]) / sizeof(double);
    each_row<table>(std::make_integer_sequence<int, kTerms - 1>(),
                    std::make_integer_sequence<int, std::size(table)>());
    __syncthreads();
  }
  template <const auto& table, int... kTerm, int... kRow>
  __device__ void each_row(std::integer_sequence<int, kTerm...> terms,
                           std::integer_sequence<int, kRow...>) const {
    (row<table, kRow>(terms), ...);
  }
  template <const auto& table, int kRow, int... kTerm>
  __device__ void row(std::integer_sequence<int, kTerm...>) const {
    constexpr R kOne = R(entry<table, kRow, 0>());
    for_matrix(n, n, [&](int i, int j) {
      const int64_t place = int64_t(i) * n + j;
      T total(i == j ? kOne : R(0));
      ((total +=
        times(R(entry<table, kRow, kTerm + 1>()), power(kTerm)[place])),
       ...);
      sum(kRow)[place] = total;
    });
  }

  /// The truncated series of the matrix that is power(0); not in power(1).
  __device__ T* polynomial(int degree) const {
    using namespace exponential;
    T* const a = power(0);
    if (degree == 1) return combine<kFirst>(), sum(0);
    multiply(a, a, false, power(1));
    if (degree == 2) return combine<kSecond>(), sum(0);
    if (degree == 4) {
      combine<kFourth>();
      multiply(power(1), sum(1), true, sum(0));
      return sum(0);
    }
    if (degree == 8) {
      combine<kEighthInner>();
      multiply(power(1), sum(0), false, power(2));
      combine<kEighth>();
      multiply(sum(1), sum(2), true, sum(0));
      return sum(0);
    }
    multiply(power(1), a, false, power(2));
    if (degree == 12) {
      combine<kTwelfth>();
      return close(sum(3), sum(3));
    }
    multiply(power(2), power(2), false, power(3));
    combine<kEighteenth>();
    return close(sum(3), sum(4));
  }

  /// sum(0) + (sum(1) + S) S of S = sum(2) + left right.
  __device__ T* close(const T* left, const T* right) const {
    multiply(left, right, true, sum(2));
    for_matrix(n, n, [&](int i, int j) {
      sum(1)[int64_t(i) * n + j] += sum(2)[int64_t(i) * n + j];
    });
    __syncthreads();
    multiply(sum(1), sum(2), true, sum(0));
    return sum(0);
  }
};

/// The degree for a norm, and how often the matrix is halved before.
struct Scaling {
  int degree, halvings = 0;

  template <class R, int... kChoice>
  __device__ static Scaling of(double norm,
                               std::integer_sequence<int, kChoice...>) {
    constexpr int kLast = sizeof...(kChoice) - 1;
    Scaling out{degree_of(kLast)};
    for (double left = norm; left > limit<R>(kLast) && std::isfinite(left);
         left /= 2)
      ++out.halvings;
    bool found = false;
    ((!found && norm <= limit<R>(kChoice)
          ? (void)(found = true, out.degree = degree_of(kChoice))
          : void()),
     ...);
    return out;
  }
};

template <class T>
__device__ void matrix_exp(const LinalgParams& p) {
  using R = Real<T>;
  const int n = p.m;
  const T* a = matrix_of<T>(p.in[0], n, n);
  T* out = matrix_of<T>(p.out[0], n, n);
  const Exponential<T> e{n, work_of<T>(p)};
  const Scaling s = Scaling::of<R>(
      e.norm(a),
      std::make_integer_sequence<int, std::size(exponential::kDegrees)>());
  const R scale = R(std::ldexp(1.0, -s.halvings));
  for_matrix(n, n, [&](int i, int j) {
    const int64_t at = int64_t(i) * n + j;
    e.power(0)[at] = times(scale, a[at]);
  });
  __syncthreads();
  T *done = e.polynomial(s.degree), *other = e.power(1);
  for (int left = s.halvings; left > 0; --left) {
    e.multiply(done, done, false, other);
    swap_values(done, other);
  }
  copy_line(int64_t(n) * n, static_cast<const T*>(done), out);
}

}  // namespace

#define HOTARU_EXPONENTIAL(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(MatrixExp_##suffix, LinalgParams, matrix_exp<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_EXPONENTIAL, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_EXPONENTIAL, )

}  // namespace hotaru::cuda
