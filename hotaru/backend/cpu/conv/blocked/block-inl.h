// Blocks of channels as vectors, and how tiles end.

// Guarded by Highway's toggle, as it is included once for each target.
#if defined(HOTARU_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_BLOCK_INL_H_
#undef HOTARU_BLOCK_INL_H_
#else
#define HOTARU_BLOCK_INL_H_
#endif

#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, size_t(kChannelBlock)>;
using V = hn::Vec<D>;
constexpr int kBlock = int(kChannelBlock);
constexpr int kLanes = int(hn::MaxLanes(D()));

/// Bounds v; NaN stays NaN.
HWY_INLINE V bounded(V v, V low, V high) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::Min(high, hn::Max(low, v));  // the second if one is NaN
#else
  v = hn::IfThenElse(hn::Lt(v, low), low, v);
  return hn::IfThenElse(hn::Gt(v, high), high, v);
#endif
}

/// f(last) where last(sum, more) is what becomes of a sum: the residual's
/// numbers at `more` are added to it, then it is kept within the bounds.
template <class F>
HWY_INLINE void with_ending(bool residual, const SumBounds& bounds,
                            const F& f) {
  const V low = hn::Set(D(), bounds.low), high = hn::Set(D(), bounds.high);
  const auto add = [](V v, const float* more) HOTARU_SIMD_LAMBDA {
    return hn::Add(v, hn::LoadU(D(), more));
  };
  if (residual && bounds.any)
    f([&](V v, const float* more)
          HOTARU_SIMD_LAMBDA { return bounded(add(v, more), low, high); });
  else if (residual)
    f(add);
  else if (bounds.any)
    f([&](V v, const float*)
          HOTARU_SIMD_LAMBDA { return bounded(v, low, high); });
  else
    f([](V v, const float*) HOTARU_SIMD_LAMBDA { return v; });
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
