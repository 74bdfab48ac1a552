// Variance over dimensions.
#include <cmath>
#include <limits>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/reduce.h"
#include "hotaru/backend/cpu/reduce/reduce_loop.h"

namespace hotaru::cpu {
namespace {

/// Type that means are computed in.
template <class T>
using Mean = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

double square(double x) {
  return x * x;
}
double square(std::complex<double> x) {
  return std::norm(x);
}

/// Count, mean and sum of squared deviations; joined as in Chan, Golub and
/// LeVeque, "Updating formulae and a pairwise algorithm for computing sample
/// variances" (1979). Blocks take two passes, which vectorise and are exact
/// where the textbook formula cancels.
template <class M>
struct Spread {
  double n = 0;
  M mean = 0;
  double m2 = 0;
};

template <class T>
struct Moments {
  using M = Mean<T>;
  using Acc = Spread<M>;
  static constexpr Acc kIdentity{};
  static Acc load(T x) { return {1, M(x), 0}; }
  static Acc combine(Acc a, Acc b) {
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    const double n = a.n + b.n;
    const M delta = b.mean - a.mean;
    return {n, a.mean + delta * (b.n / n),
            a.m2 + b.m2 + square(delta) * (a.n * b.n / n)};
  }
  static Acc block(const T* x, int64_t n) {
    const M mean = sum<M>(n, [&](int64_t i) { return M(x[i]); }) / double(n);
    const double m2 =
        sum<double>(n, [&](int64_t i) { return square(M(x[i]) - mean); });
    return {double(n), mean, m2};
  }
  static void rows(Acc* acc, const T* x, int64_t count, int64_t stride,
                   int64_t width) {
    M mean[reduce::kTile] = {};
    double m2[reduce::kTile] = {};
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < width; ++j) mean[j] += M(x[i * stride + j]);
    for (int64_t j = 0; j < width; ++j) mean[j] /= double(count);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < width; ++j)
        m2[j] += square(M(x[i * stride + j]) - mean[j]);
    for (int64_t j = 0; j < width; ++j)
      acc[j] = {double(count), mean[j], m2[j]};
  }

 private:
  template <class A, class F>
  static A sum(int64_t n, const F& term) {
    constexpr int64_t kParts = 8;
    A parts[kParts] = {};
    int64_t i = 0;
    for (; i + kParts <= n; i += kParts)
      for (int64_t j = 0; j < kParts; ++j) parts[j] += term(i + j);
    for (int64_t j = 0; i < n; ++i, ++j) parts[j] += term(i);
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) +
           ((parts[4] + parts[5]) + (parts[6] + parts[7]));
  }
};

/// The last operand is the input.
struct VarTypes {
  template <class F>
  void visit(const KernelCall& call, F&& f) const {
    visit_dtype(FloatingAndComplexTypes{},
                call.operands().back().tensor->dtype(), "std_var_kernel", f);
  }
};
constexpr VarTypes kVarTypes;

/// Operands: variance, input; or variance, mean, input. Variance and mean
/// have equal strides.
void var(const KernelCall& call, const ReduceShape& shape) {
  const auto& attributes = call.attributes<VarAttributes>();
  const size_t operands = call.operands().size();
  const Tensor &out = call.tensor(0), &in = call.tensor(operands - 1);
  kVarTypes.visit(call, [&]<class T>() {
    using Out = std::conditional_t<kIsComplex<T>,
                                   typename formulas::RealOf<T>::type, T>;
    Out* variance = out.data<Out>();
    T* mean = operands == 3 ? call.tensor(1).data<T>() : nullptr;
    reduce_loop<Moments<T>, T>(shape, in, [&](int64_t at, Spread<Mean<T>> s) {
      // Deviations from an infinite mean are NaN.
      const double nan = std::numeric_limits<double>::quiet_NaN();
      const double m2 = std::isfinite(std::abs(s.mean)) ? s.m2 : nan;
      const double v = m2 / std::max(0.0, s.n - attributes.correction);
      variance[at] = Out(attributes.root ? std::sqrt(v) : v);
      if (mean) mean[at] = T(s.n == 0 ? Mean<T>(nan) : s.mean);
    });
  });
}

const ReduceRegistration<var> registered_var("var", check_types<kVarTypes>);

}  // namespace
}  // namespace hotaru::cpu
