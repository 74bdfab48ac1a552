// e^A by scaling and squaring of Taylor's polynomials in few products, of
// degree 8 in three and of degree 18 in five (P. Bader, S. Blanes and F. Casas,
// "Computing the matrix exponential with an optimized Taylor polynomial
// approximation", 2019).
#include <algorithm>
#include <utility>
#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr int kDegrees[] = {1, 2, 4, 8, 12, 18};

/// The norms up to which a polynomial of that degree is e^(A + E) of an E not
/// longer than u |A|, u half a unit in the last place of 1: where the series of
/// log(e^-x T(x)) / x, all coefficients positive, is u.
template <class R>
constexpr double kLimits[] = {2.2204460e-16, 2.5809568e-8, 3.3971688e-4,
                              4.9912289e-2,  0.29961589,   1.0908637};
template <>
constexpr double kLimits<float>[] = {1.1920928e-7, 5.9788589e-4, 5.1166194e-2,
                                     0.58005246,   1.4616615,    3.0100664};

// Sums of powers, of which I is the first.
constexpr double kFourth[][3] = {{1, 1, 0}, {1. / 2, 1. / 6, 1. / 24}};
constexpr double kEighthInner[][3] = {
    {0, 0.10836465678522780852, 0.027091164196306952131}};
constexpr double kEighth[][4] = {
    {1, 1, 0.13549236135285063166, 0},
    {0, 0, 2. / 3, 1},
    {0.54676145797072405251, 0.16112557339541759283, 0.014090917158378207731,
     0.033792797010870504141}};
constexpr double kTwelfth[][4] = {
    {9.0198e-16, 0.46932117595418237389, -0.20099424927047284052,
     -0.04623946134063071740},
    {5.31597895759871264183, 1.19926790417132231573, 0.01179296240992997031,
     0.01108844528519167989},
    {0.18188869982170434744, 0.05502798439925399070, 0.09351590770535414968,
     0.00610700528898058230},
    {-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079,
     -0.00675951846863086359}};
constexpr double kEighteenth[][5] = {
    {0, 0.397849749499645077844, 1.36783778460411720168,
     0.498289622525382669416, -6.37898194594723280150e-4},
    {-10.9676396052962061844, 1.68015813878906206114, 0.0571779846478865511061,
     -6.98210122488052056106e-3, 3.34975017086070470649e-5},
    {-0.0904316832390810593223, -0.0676404519071381882256,
     0.0675961301770459654925, 0.0295552570429315521194,
     -1.39180257516060693404e-5},
    {0, -0.100365581030144618291, -8.02924648241156932449e-3,
     -8.92138498045729985177e-4, 0},
    {0, 0, -0.0923364619367118555360, -0.0169364939002081722752,
     -1.40086798182036094347e-5}};

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
      : n_(n),
        size_(n * n),
        room_(static_cast<size_t>((kPowers + kSums) * size_)) {}

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
    const int64_t reals = size_ * static_cast<int64_t>(sizeof(T) / sizeof(R));
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
