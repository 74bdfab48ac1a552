// The exponential of matrices; common/linalg/exponential.h says how.
#include <algorithm>
#include <utility>
#include <vector>

#include "hotaru/backend/common/linalg/exponential.h"
#include "hotaru/backend/cpu/linalg/matrix.h"
#include "hotaru/backend/cpu/linalg/operands.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

using namespace exponential;

/// C = factor A B, or C += factor A B, of matrices [n, n] that are neighbours
/// in memory.
template <class T>
void multiply(int64_t n, Real<T> factor, const T* a, const T* b, bool add,
              T* c) {
  constexpr int64_t kSmall = 8;
  if (n >= kSmall)
    return gemm<T>(n, n, n, T(factor), {a, n, 1}, {b, n, 1}, T(Real<T>(add)), c,
                   n);
  for (int64_t i = 0; i < n; ++i) {
    T row[kSmall] = {};
    for (int64_t p = 0; p < n; ++p)
      for (int64_t j = 0; j < n; ++j)
        row[j] += hotaru::product(a[i * n + p], b[p * n + j]);
    for (int64_t j = 0; j < n; ++j)
      c[i * n + j] = factor * row[j] + (add ? c[i * n + j] : T(0));
  }
}

/// The exponentials of matrices of one size.
template <class T>
class Exponential {
 public:
  explicit Exponential(int64_t n)
      : n_(n), size_(n * n), room_(size_t((kPowers + kSums) * size_)) {}

  /// out is e^A; they are different memory.
  void operator()(const T* a, T* out) {
    constexpr int kLast = std::size(kDegrees) - 1;
    const double length = norm(a);
    const auto& limits = kLimits<R>;
    int halvings = 0;
    for (double left = length; left > limits[kLast] && std::isfinite(left);
         left /= 2)
      ++halvings;
    const auto scale = static_cast<R>(std::ldexp(1.0, -halvings));
    for (int64_t i = 0; i < size_; ++i) power(0)[i] = a[i] * scale;
    int choice = 0;
    while (choice < kLast && !(length <= limits[choice])) ++choice;
    T* done = polynomial(kDegrees[choice]);
    for (T* to = power(1); halvings > 0; --halvings) {
      multiply<T>(n_, 1, done, done, false, to);
      done = std::exchange(to, done);
    }
    std::copy_n(done, size_, out);
  }

 private:
  using R = Real<T>;
  static constexpr int kPowers = 4, kSums = 5;

  T* power(int i) { return room_.data() + i * size_; }
  T* sum(int i) { return power(kPowers + i); }

  /// The greatest sum of a row; NaN if there is one.
  double norm(const T* a) const {
    double most = 0;
    for (int64_t i = 0; i < n_; ++i) {
      double total = 0;
      for (int64_t j = 0; j < n_; ++j) total += std::abs(a[i * n_ + j]);
      if (!(total <= most)) most = total;
    }
    return most;
  }

  void product(const T* a, const T* b, T* to) {
    multiply<T>(n_, 1, a, b, false, to);
  }
  void add_product(const T* a, const T* b, T* to) {
    multiply<T>(n_, 1, a, b, true, to);
  }

  /// Sums of I and the first powers, all of them in one pass: a product of the
  /// coefficients and matrices that are rows.
  template <int kRows, int kTerms>
  void combine(const double (&of)[kRows][kTerms]) {
    constexpr int kDepth = kTerms - 1;
    R factors[kRows * kDepth];
    for (int i = 0; i < kRows; ++i)
      for (int p = 0; p < kDepth; ++p)
        factors[i * kDepth + p] = static_cast<R>(of[i][p + 1]);
    const int64_t reals = size_ * int64_t(sizeof(T) / sizeof(R));
    gemm<R>(kRows, reals, kDepth, R(1), {factors, kDepth, 1},
            {reinterpret_cast<const R*>(power(0)), reals, 1}, R(0),
            reinterpret_cast<R*>(sum(0)), reals);
    for (int i = 0; i < kRows; ++i) add_ones(static_cast<R>(of[i][0]), sum(i));
  }

  void add_ones(R x, T* to) const {
    for (int64_t i = 0; i < n_; ++i) to[i * (n_ + 1)] += x;
  }

  /// The truncated series of the matrix that is power(0); not in power(1).
  T* polynomial(int degree) {
    T* a = power(0);
    if (degree == 1) return add_ones(1, a), a;
    if (degree == 2) {
      std::copy_n(a, size_, sum(0));
      multiply<T>(n_, R(0.5), a, a, true, sum(0));
      return add_ones(1, sum(0)), sum(0);
    }
    product(a, a, power(1));
    if (degree == 4) {
      combine(kFourth);
      add_product(power(1), sum(1), sum(0));
      return sum(0);
    }
    if (degree == 8) {
      combine(kEighthInner);
      product(power(1), sum(0), power(2));
      combine(kEighth);
      add_product(sum(1), sum(2), sum(0));
      return sum(0);
    }
    product(power(1), a, power(2));
    if (degree == 12) {
      combine(kTwelfth);
      return close(sum(3), sum(3));
    }
    product(power(2), power(2), power(3));
    combine(kEighteenth);
    return close(sum(3), sum(4));
  }

  /// sum(0) + (sum(1) + S) S of S = sum(2) + left right.
  T* close(const T* left, const T* right) {
    add_product(left, right, sum(2));
    for (int64_t i = 0; i < size_; ++i) sum(1)[i] += sum(2)[i];
    add_product(sum(1), sum(2), sum(0));
    return sum(0);
  }

  int64_t n_, size_;
  std::vector<T> room_;  // powers, of which A is the first, and sums
};

constexpr KernelTypes<LinalgTypes> kTypes{0, "matrix_exp"};

void matrix_exp(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  kTypes.visit(call, [&]<class T>() {
    constexpr int64_t kWork = 1 << 16;
    const int64_t cost = std::max<int64_t>(1, 8 * s.m * s.m * s.m);
    parallel_for(0, s.batch, kWork / cost + 1, [&](int64_t begin, int64_t end) {
      Exponential<T> exponential(s.m);
      for (int64_t b = begin; b < end; ++b)
        exponential(matrix<T>(call.tensor(1), b, s.m, s.m),
                    matrix<T>(call.tensor(0), b, s.m, s.m));
    });
  });
}

HOTARU_KERNEL(kCPU, "linalg_matrix_exp", matrix_exp, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
