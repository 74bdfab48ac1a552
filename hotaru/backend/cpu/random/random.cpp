// Random numbers into tensors.
#include "hotaru/backend/common/random/random.h"

#include <cmath>
#include <mutex>
#include <numbers>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/random/random_fill.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cpu {
namespace {

/// Tells whether the elements fill a stretch of memory without gaps or overlap.
bool is_dense(const Tensor& t) {
  return t.numel() == 0 || storage_extent(t.sizes(), t.strides()) == t.numel();
}

/// Dimensions from the largest stride to the smallest: memory order.
void sort_by_stride(const Tensor& t, Dims& sizes, Dims& strides) {
  std::vector<size_t> order(t.sizes().size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return t.strides()[a] > t.strides()[b];
  });
  for (const size_t d : order) {
    sizes.push_back(t.sizes()[d]);
    strides.push_back(t.strides()[d]);
  }
}

/// fill(pointer, n) for the tensor's elements in memory order, directly or
/// through a buffer.
template <class T, class F>
void fill_in_order(const Tensor& t, const F& fill) {
  if (is_dense(t)) return fill(t.data<T>(), t.numel());
  std::unique_ptr<T[]> values(new T[size_t(t.numel())]);
  fill(values.get(), t.numel());
  Dims sizes, strides;
  sort_by_stride(t, sizes, strides);
  T* out = t.data<T>();
  Walk<1> walk(sizes, {strides});
  for (int64_t i = 0; i < t.numel(); ++i, walk.next())
    out[walk.at[0]] = values[size_t(i)];
}

/// The numbers that a dtype's draws are made of: complex ones are two reals.
template <class T>
struct Parts {
  using type = T;
  static constexpr int64_t kCount = 1;
};
template <class R>
struct Parts<std::complex<R>> {
  using type = R;
  static constexpr int64_t kCount = 2;
};

constexpr KernelTypes<FloatingAndComplexTypes> kUniformTypes{
    0, "check_uniform_bounds"};
constexpr KernelTypes<FloatingAndComplexTypes> kNormalTypes{
    0, "normal_kernel_cpu"};
constexpr KernelTypes<FloatingTypes> kExponentialTypes{
    0, "exponential_kernel_cpu"};
constexpr KernelTypes<FloatingTypes> kCauchyTypes{0, "cauchy_cpu"};
constexpr KernelTypes<FloatingTypes> kLogNormalTypes{0, "log_normal_cpu"};
constexpr KernelTypes<RealTypes> kGeometricTypes{0, "geometric_cpu"};
constexpr KernelTypes<RealAndBoolTypes> kIntegerTypes{0, "random_kernel_cpu"};

void check_random(const KernelCall& call) {
  switch (call.attributes<DrawAttributes>().draw) {
    case Draw::kUniform:
      return check_types<kUniformTypes>(call);
    case Draw::kNormal:
      return check_types<kNormalTypes>(call);
    case Draw::kExponential:
      return check_types<kExponentialTypes>(call);
    case Draw::kCauchy:
      return check_types<kCauchyTypes>(call);
    case Draw::kLogNormal:
      return check_types<kLogNormalTypes>(call);
    case Draw::kGeometric:
      return check_types<kGeometricTypes>(call);
    default:
      return check_types<kIntegerTypes>(call);
  }
}

/// fill(reals, n) for floating and complex tensors.
template <class F>
void fill_reals(const KernelCall& call,
                const KernelTypes<FloatingAndComplexTypes>& types,
                const F& fill) {
  const Tensor& out = call.tensor(0);
  types.visit(call, [&]<class T>() {
    using Real = typename Parts<T>::type;
    fill_in_order<T>(out, [&](T* values, int64_t n) {
      fill(reinterpret_cast<Real*>(values), n * Parts<T>::kCount);
    });
  });
}

/// Operands: result, generator.
void random(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  auto& gen = call.object<CpuGenerator>(1);
  const auto& a = call.attributes<DrawAttributes>();
  switch (a.draw) {
    case Draw::kUniform:
      return fill_reals(call, kUniformTypes, [&](auto* x, int64_t n) {
        uniform_fill(x, n, a.a, a.b, gen);
      });
    case Draw::kNormal: {
      const double std = out.is_complex() ? a.b * std::numbers::sqrt2 / 2 : a.b;
      const NormalPath path =
          out.is_contiguous() ? NormalPath::kBlocks : NormalPath::kSerial;
      return fill_reals(call, kNormalTypes, [&](auto* x, int64_t n) {
        normal_fill(x, n, a.a, std, gen, path);
      });
    }
    case Draw::kExponential:
      return kExponentialTypes.visit(call, [&]<class T>() {
        fill_in_order<T>(
            out, [&](T* x, int64_t n) { exponential_fill(x, n, a.a, gen); });
      });
    case Draw::kCauchy:
      return kCauchyTypes.visit(call, [&]<class T>() {
        fill_in_order<T>(
            out, [&](T* x, int64_t n) { cauchy_fill(x, n, a.a, a.b, gen); });
      });
    case Draw::kLogNormal:
      return kLogNormalTypes.visit(call, [&]<class T>() {
        fill_in_order<T>(out, [&](T* x, int64_t n) {
          log_normal_fill(x, n, a.a, a.b, gen);
        });
      });
    case Draw::kGeometric:
      return kGeometricTypes.visit(call, [&]<class T>() {
        fill_in_order<T>(
            out, [&](T* x, int64_t n) { geometric_fill(x, n, a.a, gen); });
      });
    default:
      break;
  }
  kIntegerTypes.visit(call, [&]<class T>() {
    fill_in_order<T>(out, [&](T* x, int64_t n) {
      if (a.draw == Draw::kBernoulli || a.draw == Draw::kKept)
        bernoulli_fill(x, n, a.a, gen);
      else if (a.draw == Draw::kInteger)
        random_from_to_fill(x, n, a.range, a.from, gen);
      else if (a.draw == Draw::kFullInteger)
        random_full_fill(x, n, gen);
      else
        randperm_fill(x, n, gen);
    });
  });
}

constexpr KernelTypes<RealAndBoolTypes> kBernoulliTypes{
    0, "bernoulli_tensor_cpu_self_"};

/// Operands: result, probabilities (float32 or float64, of the same strides),
/// generator; both dense.
void bernoulli(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &p = call.tensor(1);
  auto& gen = call.object<CpuGenerator>(2);
  kBernoulliTypes.visit(call, [&]<class T>() {
    if (p.dtype() == DType::kFloat64)
      bernoulli_fill(out.data<T>(), out.numel(), p.data<double>(), gen);
    else
      bernoulli_fill(out.data<T>(), out.numel(), p.data<float>(), gen);
  });
}

constexpr KernelTypes<FloatingTypes> kMultinomialTypes{1, "multinomial"};

/// Operands: indices [rows, samples], weights [rows, n], generator; row-major.
/// Draws with replacement by binary search in the running sums.
void multinomial(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &weights = call.tensor(1);
  auto& gen = call.object<CpuGenerator>(2);
  std::lock_guard lock(gen.mutex());
  const int64_t n = weights.size(-1), samples = out.size(-1);
  const int64_t rows = n == 0 ? 0 : weights.numel() / n;
  kMultinomialTypes.visit(call, [&]<class T>() {
    using Math = OpMath<T>;
    std::vector<Math> sums(size_t(n), Math{});
    for (int64_t row = 0; row < rows; ++row) {
      const T* w = weights.data<T>() + row * n;
      Math total = 0;
      for (int64_t i = 0; i < n; ++i)
        sums[size_t(i)] = total = Math(T(total + Math(w[i])));
      HOTARU_CHECK(total > 0,
                   "invalid multinomial distribution (sum of probabilities <= "
                   "0)");
      for (Math& sum : sums) sum = Math(T(sum / total));
      for (int64_t s = 0; s < samples; ++s) {
        const double u = gen.uniform_double();
        const auto at = std::lower_bound(
            sums.begin(), sums.end() - 1, u,
            [](Math sum, double value) { return double(sum) < value; });
        out.data<int64_t>()[row * samples + s] = at - sums.begin();
      }
    }
  });
}

constexpr KernelTypes<FloatingTypes> kSlopeTypes{1, "rrelu_with_noise_out_cpu"};

/// Operands: slopes, input of the same dtype, generator; row-major. One double
/// is drawn for each element that is not positive; other slopes are 1.
void random_slopes(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  auto& gen = call.object<CpuGenerator>(2);
  const auto& a = call.attributes<DrawAttributes>();
  const int64_t n = in.numel();
  kSlopeTypes.visit(call, [&]<class T>() {
    const T* x = in.data<T>();
    T* slopes = out.data<T>();
    const auto drawn = [x](int64_t i) { return float(x[i]) <= 0; };
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += drawn(i);
    std::vector<double> draws(static_cast<size_t>(count));
    uniform_fill(draws.data(), count, a.a, a.b, gen);
    const double* next = draws.data();
    for (int64_t i = 0; i < n; ++i) slopes[i] = drawn(i) ? T(*next++) : T(1);
  });
}

HOTARU_KERNEL(kCPU, "random_slopes", random_slopes, check_types<kSlopeTypes>);
HOTARU_KERNEL(kCPU, "random", random, check_random);
HOTARU_KERNEL(kCPU, "bernoulli", bernoulli, check_types<kBernoulliTypes>);
HOTARU_KERNEL(kCPU, "multinomial", multinomial, check_types<kMultinomialTypes>);

}  // namespace
}  // namespace hotaru::cpu
