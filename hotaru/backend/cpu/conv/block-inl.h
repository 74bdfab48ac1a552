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

/// Of NaN: NaN.
HWY_INLINE V relu(V v) {
  const V zero = hn::Zero(D());
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::Max(zero, v);  // the second if one is NaN
#else
  return hn::IfThenZeroElse(hn::Lt(v, zero), v);
#endif
}

/// f(last) where last(sum, more) is what becomes of a sum: the residual's
/// numbers at `more` are added to it, then it is rectified.
template <class F>
HWY_INLINE void with_ending(bool residual, bool rectify, const F& f) {
  const auto add = [](V v, const float* more) HOTARU_SIMD_LAMBDA {
    return hn::Add(v, hn::LoadU(D(), more));
  };
  if (residual && rectify)
    f([&](V v, const float* more)
          HOTARU_SIMD_LAMBDA { return relu(add(v, more)); });
  else if (residual)
    f(add);
  else if (rectify)
    f([](V v, const float*) HOTARU_SIMD_LAMBDA { return relu(v); });
  else
    f([](V v, const float*) HOTARU_SIMD_LAMBDA { return v; });
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
