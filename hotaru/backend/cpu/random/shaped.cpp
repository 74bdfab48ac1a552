// Draws with parameters of their own for each element, and how they move with
// these. All operands are row-major.
#include <limits>
#include <mutex>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/random/implicit_slopes.h"
#include "hotaru/backend/common/random/shaped_draws.h"
#include "hotaru/backend/cpu/random/cpu_generator.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<FloatTypes> kGammaTypes{0, "gamma_cpu"};
constexpr KernelTypes<FloatingTypes> kPoissonTypes{0, "poisson_cpu"};
constexpr KernelTypes<FloatTypes> kBinomialTypes{0, "binomial_cpu"};
constexpr KernelTypes<FloatTypes> kGammaSlopeTypes{0,
                                                   "_standard_gamma_grad_cpu"};
constexpr KernelTypes<FloatTypes> kDirichletSlopeTypes{0,
                                                       "_dirichlet_grad_cpu"};

/// Not below the smallest normal number; NaN stays.
template <class T>
T no_less_than_tiny(double x) {
  const T value = T(x);
  return value < std::numeric_limits<T>::min() ? std::numeric_limits<T>::min()
                                               : value;
}

/// Operands: result, shapes, generator.
void standard_gamma(const KernelCall& call) {
  auto& gen = call.object<CpuGenerator>(2);
  std::lock_guard lock(gen.mutex());
  kGammaTypes.visit(call, [&]<class T>() {
    T* out = call.tensor(0).data<T>();
    const T* alpha = call.tensor(1).data<T>();
    for (int64_t i = 0; i < call.tensor(0).numel(); ++i)
      out[i] = no_less_than_tiny<T>(draw_gamma(alpha[i], gen));
  });
}

/// Operands: result, means, generator.
void poisson(const KernelCall& call) {
  auto& gen = call.object<CpuGenerator>(2);
  std::lock_guard lock(gen.mutex());
  kPoissonTypes.visit(call, [&]<class T>() {
    T* out = call.tensor(0).data<T>();
    const T* rates = call.tensor(1).data<T>();
    for (int64_t i = 0; i < call.tensor(0).numel(); ++i) {
      const double rate = double(OpMath<T>(rates[i]));
      HOTARU_CHECK(rate >= 0,
                   "invalid Poisson rate, expected rate to be non-negative");
      out[i] = T(OpMath<T>(draw_poisson(rate, gen)));
    }
  });
}

/// Operands: result, counts, probabilities, generator.
void binomial(const KernelCall& call) {
  auto& gen = call.object<CpuGenerator>(3);
  std::lock_guard lock(gen.mutex());
  kBinomialTypes.visit(call, [&]<class T>() {
    T* out = call.tensor(0).data<T>();
    const T *counts = call.tensor(1).data<T>(), *p = call.tensor(2).data<T>();
    for (int64_t i = 0; i < call.tensor(0).numel(); ++i)
      out[i] = T(draw_binomial(double(counts[i]), double(p[i]), gen));
  });
}

/// Elements that one thread takes at a time: they cost some hundred
/// nanoseconds each.
constexpr int64_t kGrain = 256;

/// Operands: result, shapes, draws.
void standard_gamma_grad(const KernelCall& call) {
  kGammaSlopeTypes.visit(call, [&]<class T>() {
    T* out = call.tensor(0).data<T>();
    const T *a = call.tensor(1).data<T>(), *x = call.tensor(2).data<T>();
    parallel_for(
        0, call.tensor(0).numel(), kGrain, [=](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            out[i] = T(implicit::gamma_slope(double(a[i]), double(x[i])));
        });
  });
}

/// Operands: result, draws, shapes, their sums.
void dirichlet_grad(const KernelCall& call) {
  kDirichletSlopeTypes.visit(call, [&]<class T>() {
    T* out = call.tensor(0).data<T>();
    const T *x = call.tensor(1).data<T>(), *a = call.tensor(2).data<T>(),
            *total = call.tensor(3).data<T>();
    parallel_for(0, call.tensor(0).numel(), kGrain,
                 [=](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     out[i] = T(implicit::dirichlet_slope(
                         double(x[i]), double(a[i]), double(total[i])));
                 });
  });
}

HOTARU_KERNEL(kCPU, "standard_gamma", standard_gamma, check_types<kGammaTypes>);
HOTARU_KERNEL(kCPU, "poisson", poisson, check_types<kPoissonTypes>);
HOTARU_KERNEL(kCPU, "binomial", binomial, check_types<kBinomialTypes>);
HOTARU_KERNEL(kCPU, "standard_gamma_grad", standard_gamma_grad,
              check_types<kGammaSlopeTypes>);
HOTARU_KERNEL(kCPU, "dirichlet_grad", dirichlet_grad,
              check_types<kDirichletSlopeTypes>);

}  // namespace
}  // namespace hotaru::cpu
