// Orthogonal polynomials of one small degree for many elements: each step of
// the recurrence is taken by a run of them, which vectorises.
#include "hotaru/backend/common/pointwise/special.h"
#include "hotaru/backend/cpu/pointwise/special_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pointwise/polynomial_loops.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

/// Degrees up to which every polynomial goes by its recurrence.
constexpr int kMostDegree = 8;
constexpr int64_t kRun = 128;

/// Degree 1, and degree k + 1 from p and q of degrees k - 1 and k (Abramowitz
/// and Stegun, 22.7).
#define HOTARU_POLYNOMIAL(name, first, following) \
  struct Steps_##name { \
    static constexpr auto kWhole = &special::name; \
    HOTARU_INLINE static double one(double x) { return first; } \
    HOTARU_INLINE static double next([[maybe_unused]] double k, double x, \
                                     double p, double q) { \
      return following; \
    } \
  };
#define HOTARU_POLYNOMIALS(X) \
  X(chebyshev_polynomial_t, x, 2 * x * q - p) \
  X(chebyshev_polynomial_u, 2 * x, 2 * x * q - p) \
  X(chebyshev_polynomial_v, 2 * x - 1, 2 * x * q - p) \
  X(chebyshev_polynomial_w, 2 * x + 1, 2 * x * q - p) \
  X(hermite_polynomial_h, 2 * x, 2 * x * q - 2 * k * p) \
  X(hermite_polynomial_he, x, x* q - k * p) \
  X(laguerre_polynomial_l, 1 - x, ((2 * k + 1 - x) * q - k * p) / (k + 1)) \
  X(legendre_polynomial_p, x, ((2 * k + 1) * x * q - k * p) / (k + 1))
HOTARU_POLYNOMIALS(HOTARU_POLYNOMIAL)
#undef HOTARU_POLYNOMIAL

/// A run of elements whose degree is n.
template <class S>
void run_of(float* out, const float* x, int64_t count, int n) {
  double p[kRun], q[kRun];
  for (int64_t i = 0; i < count; ++i) {
    p[i] = 1;
    q[i] = n > 0 ? S::one(x[i]) : 1;
  }
  for (int k = 1; k < n; ++k)
    for (int64_t i = 0; i < count; ++i) {
      const double r = S::next(k, x[i], p[i], q[i]);
      p[i] = q[i];
      q[i] = r;
    }
  for (int64_t i = 0; i < count; ++i) out[i] = float(q[i]);
}

template <class S>
void loop(const void* context, char* const* p, const int64_t* s, int64_t n) {
  if (s[0] != sizeof(float) || s[1] != sizeof(float) || s[2] != sizeof(float))
    return by_runs<float, float, float, float, 2>(&loop<S>, context, p, s, n);
  auto* out = reinterpret_cast<float*>(p[0]);
  const auto* x = reinterpret_cast<const float*>(p[1]);
  const auto* degree = reinterpret_cast<const float*>(p[2]);
  for (int64_t from = 0; from < n; from += kRun) {
    const int64_t count = std::min(kRun, n - from);
    const float first = degree[from];
    bool same = first >= 0 && first <= kMostDegree;
    for (int64_t i = 0; i < count; ++i) same &= degree[from + i] == first;
    if (same)
      run_of<S>(out + from, x + from, count, int(first));
    else
      for (int64_t i = from; i < from + count; ++i)
        out[i] = float(S::kWhole(x[i], degree[i]));
  }
}

LoopNest::Inner find_polynomial(special::Binary which) {
#define HOTARU_CASE(name, ...) \
  case special::k_##name: \
    return &loop<Steps_##name>;
  switch (which) {
    HOTARU_POLYNOMIALS(HOTARU_CASE)
    default:
      return nullptr;
  }
#undef HOTARU_CASE
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(find_polynomial);
LoopNest::Inner polynomial_float_loop(special::Binary which) {
  return HWY_DYNAMIC_DISPATCH(find_polynomial)(which);
}
}  // namespace hotaru::cpu
#endif
