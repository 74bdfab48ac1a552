// Variances and means. See params/reduce.h for how they are launched; the
// attributes are VarAttributes.
#include <cmath>
#include <limits>

#include "hotaru/backend/common/reduce/reduce.h"
#include "hotaru/backend/cuda/device/reduce/reduce.h"

namespace hotaru::cuda {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Count, mean and sum of squared deviations, joined as the CPU joins them
/// (cpu/reduce/moments.cpp). What one thread sees it sums up, in double and
/// less its first element: since that is one of the elements, the variance is
/// no smaller than what cancels times 1 / n, and n is small here. Four
/// operations an element, where Welford's recurrence would divide; this
/// hardware computes half as many doubles as floats.
template <class T>
struct Moments {
  struct Acc {
    double n, mean, m2;
  };
  static constexpr uint32_t kParts = 1;
  struct Part {
    double n, first, total, sum, squares;
  };

  __device__ static Acc identity() { return {0, 0, 0}; }
  __device__ static Acc combine(const Acc& a, const Acc& b) {
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    const double n = a.n + b.n;
    const double delta = b.mean - a.mean;
    // Infinities are lost in differences, but not in sums.
    const double mean = std::isfinite(delta)
                            ? a.mean + delta * (b.n / n)
                            : a.mean * (a.n / n) + b.mean * (b.n / n);
    return {n, mean, a.m2 + b.m2 + delta * delta * (a.n * b.n / n)};
  }
  __device__ static Part start() { return {0, 0, 0, 0, 0}; }
  __device__ static void take(Part& part, OpMath<T> value, uint32_t) {
    const double x = value;
    if (part.n == 0) part.first = x;
    part.n += 1;
    const double d = x - part.first;
    part.total += x;
    part.sum += d;
    part.squares += d * d;
  }
  __device__ static Acc total(const Part& part) {
    if (part.n == 0) return identity();
    const double shift = part.sum / part.n;
    const double m2 = part.squares - shift * part.sum;
    const double mean = part.first + shift;
    return {part.n, std::isfinite(mean) ? mean : part.total / part.n,
            m2 > 0     ? m2
            : m2 == m2 ? 0
                       : m2};
  }
  __device__ static Acc moved(const Acc& acc, int64_t) { return acc; }
  /// Deviations from an infinite mean are NaN.
  __device__ static OpMath<T> variance(const ReduceParams& p, double n,
                                       bool finite, double m2) {
    const auto& a = *reinterpret_cast<const VarAttributes*>(p.attributes);
    const double rest = n - a.correction;
    const double v = (finite ? m2 : kNan) / (rest > 0 ? rest : 0);
    return OpMath<T>(a.root ? std::sqrt(v) : v);
  }
  __device__ static void store(const ReduceParams& p, const int64_t (&at)[3],
                               const Acc& s) {
    cuda::store<T>(static_cast<char*>(p.out) + at[1],
                   variance(p, s.n, std::isfinite(s.mean), s.m2));
    if (p.second)
      cuda::store<T>(static_cast<char*>(p.second) + at[2],
                     OpMath<T>(s.n == 0 ? kNan : s.mean));
  }
};

/// The same of complex numbers, whose parts' deviations add up.
template <class R>
struct Moments<std::complex<R>> {
  using Real = Moments<R>;
  using T = std::complex<R>;
  struct Acc {
    double n, mean[2], m2;
  };
  static constexpr uint32_t kParts = 1;
  struct Part {
    typename Real::Part parts[2];
  };

  __device__ static Acc joined(const typename Real::Acc& x,
                               const typename Real::Acc& y) {
    return {x.n, {x.mean, y.mean}, x.m2 + y.m2};
  }
  __device__ static Acc identity() { return {0, {0, 0}, 0}; }
  __device__ static Acc combine(const Acc& a, const Acc& b) {
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    Acc out{a.n + b.n, {}, a.m2 + b.m2};
    const double part = b.n / out.n;
    HOTARU_UNROLL
    for (int i = 0; i < 2; ++i) {
      const double delta = b.mean[i] - a.mean[i];
      out.mean[i] = std::isfinite(delta)
                        ? a.mean[i] + delta * part
                        : a.mean[i] * (1 - part) + b.mean[i] * part;
      out.m2 += delta * delta * (a.n * part);
    }
    return out;
  }
  __device__ static Part start() { return {{Real::start(), Real::start()}}; }
  __device__ static void take(Part& part, const T& x, uint32_t i) {
    Real::take(part.parts[0], x.real(), i);
    Real::take(part.parts[1], x.imag(), i);
  }
  __device__ static Acc total(const Part& part) {
    return joined(Real::total(part.parts[0]), Real::total(part.parts[1]));
  }
  __device__ static Acc moved(const Acc& acc, int64_t) { return acc; }
  __device__ static void store(const ReduceParams& p, const int64_t (&at)[3],
                               const Acc& s) {
    const bool finite = std::isfinite(s.mean[0]) && std::isfinite(s.mean[1]);
    cuda::store<R>(static_cast<char*>(p.out) + at[1],
                   Real::variance(p, s.n, finite, s.m2));
    if (p.second)
      cuda::store<T>(
          static_cast<char*>(p.second) + at[2],
          s.n == 0 ? T(R(kNan), R(kNan)) : T(R(s.mean[0]), R(s.mean[1])));
  }
};

}  // namespace

#define HOTARU_MOMENTS(unused, T, suffix) \
  HOTARU_REDUCTION(Var_##suffix, T, Moments<T>)
HOTARU_DEVICE_TYPES_FloatingAndComplexTypes(HOTARU_MOMENTS, )

}  // namespace hotaru::cuda
