// Variances and means. See params/reduce.h for how they are launched; the
// attributes are VarAttributes.
#include <cmath>
#include <limits>

#include "hotaru/backend/common/reduce/reduce.h"
#include "hotaru/backend/cuda/device/reduce/reduce.h"

namespace hotaru::cuda {
namespace {

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
  __device__ static void store(const ReduceParams& p, const int64_t (&at)[3],
                               const Acc& s) {
    const auto& a = *reinterpret_cast<const VarAttributes*>(p.attributes);
    // Deviations from an infinite mean are NaN.
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double m2 = std::isfinite(s.mean) ? s.m2 : nan;
    const double rest = s.n - a.correction;
    const double v = m2 / (rest > 0 ? rest : 0);
    cuda::store<T>(static_cast<char*>(p.out) + at[1],
                   OpMath<T>(a.root ? std::sqrt(v) : v));
    if (p.second)
      cuda::store<T>(static_cast<char*>(p.second) + at[2],
                     OpMath<T>(s.n == 0 ? nan : s.mean));
  }
};

}  // namespace

#define HOTARU_MOMENTS(unused, T, suffix) \
  HOTARU_REDUCTION(Var_##suffix, T, Moments<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_MOMENTS, )

}  // namespace hotaru::cuda
