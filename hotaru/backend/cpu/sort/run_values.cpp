// The first of equal neighbours, in one pass.
#include "hotaru/backend/common/kernel_types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/sort/run_values.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

#ifndef HOTARU_RUN_TYPES
#define HOTARU_RUN_TYPES(f) \
  f(float) f(double) f(Half) f(BFloat16) f(uint8_t) f(int8_t) f(int16_t) \
      f(int32_t) f(int64_t) f(Bool)
#endif

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Values of the runs of x[0, n), n > 0, to y, which has room for n; returns
/// how many there are.
template <class T>
HWY_ATTR int64_t run_values(const T* x, int64_t n, T* y) {
  T* const first = y;
  *y++ = x[0];
  int64_t i = 1;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) >= 4) {
    const hn::ScalableTag<T> d;
    const auto lanes = int64_t(hn::Lanes(d));
    // Most vectors are either all new or, in long runs, all old.
    for (; i + lanes <= n; i += lanes) {
      const auto here = hn::LoadU(d, x + i);
      // Highway's Ne() says that NaN equals everything.
      const auto differs = hn::Not(hn::Eq(here, hn::LoadU(d, x + i - 1)));
      if (hn::AllTrue(d, differs)) {
        hn::StoreU(here, d, y);
        y += lanes;
      } else if (!hn::AllFalse(d, differs)) {
        y += hn::CompressStore(here, differs, d, y);
      }
    }
  }
#endif
  // Written always, kept if it differs: a branch would be mispredicted.
  for (; i < n; ++i) {
    *y = x[i];
    y += !(x[i] == x[i - 1]);
  }
  return y - first;
}

#define HOTARU_RUNS(T) \
  int64_t run_values_##T(const T* x, int64_t n, T* y) { \
    return run_values(x, n, y); \
  }
HOTARU_RUN_TYPES(HOTARU_RUNS)
#undef HOTARU_RUNS

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
namespace {

#define HOTARU_RUNS(T) \
  HWY_EXPORT(run_values_##T); \
  int64_t values_of(const T* x, int64_t n, T* y) { \
    return HWY_DYNAMIC_DISPATCH(run_values_##T)(x, n, y); \
  }
HOTARU_RUN_TYPES(HOTARU_RUNS)
#undef HOTARU_RUNS

constexpr KernelTypes<RealAndBoolTypes> kTypes{2, "unique"};

/// Operands: values [n], of which the first `count` are set, count int64 [1],
/// row-major input [n], n > 0.
void run_values(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(2);
  kTypes.visit(call, [&]<class T>() {
    *call.tensor(1).data<int64_t>() =
        values_of(in.data<T>(), in.numel(), out.data<T>());
  });
}

HOTARU_KERNEL(kCPU, "run_values", run_values, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
#endif
