// The incomplete gamma functions of floats, in double to a float's precision:
// a run of elements takes each step of the series together, which vectorises.
// What that has not enough digits for goes to special_gamma.h.
#include "hotaru/backend/common/pointwise/special.h"
#include "hotaru/backend/common/pointwise/vector_functions.h"
#include "hotaru/backend/cpu/pointwise/special_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/pointwise/incomplete_gamma_loops.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

constexpr int64_t kLanes = 64;
/// Steps between two looks at whether all elements have converged, and the most
/// there are: within kMostX neither part of the fraction overflows by then.
constexpr int kSteps = 8, kMostSteps = 64;
constexpr double kLeastA = 1e-3, kMostA = 100, kMostX = 1e4;
/// Convergence to this is precise enough for a float; and no smaller result may
/// be what is left of 1.
constexpr double kPrecision = 1e-9, kLeastRest = 0.05;

/// A run of (a, x), and whether x < a + 1, where the series is the better way.
struct Run {
  double a[kLanes], x[kLanes], value[kLanes];
  bool known[kLanes], near[kLanes];
};

/// x^a e^-x / gamma(a). The logarithm of gamma(a + 8) is Stirling's (Abramowitz
/// and Stegun, 6.1.40); the eight factors between come off it.
HOTARU_INLINE double front(double a, double x) {
  double product = a;
#pragma GCC unroll 8
  for (int k = 1; k < 8; ++k) product *= a + k;
  const double b = a + 8, r = 1 / b, z = r * r;
  const double rest =
      r * (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680))));
  const double log_gamma = (b - 0.5) * vmath::log_wide(b) - b +
                           0.91893853320467274178 + rest -
                           vmath::log_wide(product);
  const double exponent = a * vmath::log_wide(x) - x - log_gamma;
  return vmath::exp_wide(exponent < -700 ? -700 : exponent);
}

/// P(a, x) / front by its series (6.5.29); of elements that are far x is 0.
bool lower(const double* a, const double* x, double* sum) {
  double term[kLanes], n[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    n[i] = a[i];
    sum[i] = term[i] = 1 / a[i];
  }
  for (int step = 0; step < kMostSteps; step += kSteps) {
    for (int k = 0; k < kSteps; ++k)
      for (int64_t i = 0; i < kLanes; ++i) {
        n[i] += 1;
        term[i] *= x[i] / n[i];
        sum[i] += term[i];
      }
    int64_t open = 0;
    for (int64_t i = 0; i < kLanes; ++i)
      open |= int64_t(term[i] > kPrecision * sum[i]);
    if (!open) return true;
  }
  return false;
}

/// Q(a, x) / front by its continued fraction (6.5.31): its convergents p / q.
bool upper(const double* a, const double* x, double* value) {
  double p[kLanes], q[kLanes], last_p[kLanes], last_q[kLanes], b[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    last_p[i] = 0;
    last_q[i] = p[i] = 1;
    value[i] = 0;
    q[i] = b[i] = x[i] + 1 - a[i];
  }
  for (int step = 1; step <= kMostSteps; step += kSteps) {
    for (int n = step; n < step + kSteps; ++n)
      for (int64_t i = 0; i < kLanes; ++i) {
        const double numerator = n * (a[i] - n);
        b[i] += 2;
        const double next_p = b[i] * p[i] + numerator * last_p[i];
        const double next_q = b[i] * q[i] + numerator * last_q[i];
        last_p[i] = p[i];
        last_q[i] = q[i];
        p[i] = next_p;
        q[i] = next_q;
      }
    int64_t open = 0;
    for (int64_t i = 0; i < kLanes; ++i) {
      const double now = p[i] / q[i];
      open |= int64_t(std::abs(now - value[i]) > kPrecision * now);
      value[i] = now;
    }
    if (!open) return true;
  }
  return false;
}

/// Sets value, P or Q (from_x) of every element that is known.
void find_values(Run& run, bool from_x) {
  double x[kLanes], found[2][kLanes];
  bool any[2] = {false, false}, done[2] = {true, true};
  for (int64_t i = 0; i < kLanes; ++i) any[run.near[i]] = true;
  if (any[true]) {
    for (int64_t i = 0; i < kLanes; ++i) x[i] = run.near[i] ? run.x[i] : 0;
    done[true] = lower(run.a, x, found[true]);
  }
  if (any[false]) {
    for (int64_t i = 0; i < kLanes; ++i)
      x[i] = run.near[i] ? run.a[i] + 1 : run.x[i];
    done[false] = upper(run.a, x, found[false]);
  }
  for (int64_t i = 0; i < kLanes; ++i) {
    const bool near = run.near[i], rest = near == from_x;
    const double part = found[near][i] * front(run.a[i], run.x[i]);
    run.value[i] = rest ? 1 - part : part;
    run.known[i] &= done[near] && (!rest || run.value[i] > kLeastRest);
  }
}

template <bool kFromX>
void gamma_loop(const void* context, char* const* p, const int64_t* s,
                int64_t n) {
  if (s[0] != sizeof(float) || s[1] != sizeof(float) || s[2] != sizeof(float))
    return by_runs<float, float, float, float, 2>(&gamma_loop<kFromX>, context,
                                                  p, s, n);
  auto* out = reinterpret_cast<float*>(p[0]);
  const auto* a = reinterpret_cast<const float*>(p[1]);
  const auto* x = reinterpret_cast<const float*>(p[2]);
  for (int64_t from = 0; from < n; from += kLanes) {
    const int64_t count = std::min(kLanes, n - from);
    Run run;
    for (int64_t i = 0; i < kLanes; ++i) {
      const int64_t at = from + std::min(i, count - 1);
      const bool known =
          a[at] >= kLeastA && a[at] <= kMostA && x[at] > 0 && x[at] <= kMostX;
      run.a[i] = known ? a[at] : 1;
      run.x[i] = known ? x[at] : 1;
      run.known[i] = known;
      run.near[i] = run.x[i] < run.a[i] + 1;
    }
    find_values(run, kFromX);
    constexpr auto kWhole = kFromX ? special::igammac : special::igamma;
    for (int64_t i = 0; i < count; ++i)
      out[from + i] =
          float(run.known[i] ? run.value[i] : kWhole(a[from + i], x[from + i]));
  }
}

LoopNest::Inner find_gamma(special::Binary which) {
  return which == special::k_igamma ? &gamma_loop<false> : &gamma_loop<true>;
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(find_gamma);
LoopNest::Inner incomplete_gamma_loop(special::Binary which) {
  return HWY_DYNAMIC_DISPATCH(find_gamma)(which);
}
}  // namespace hotaru::cpu
#endif
