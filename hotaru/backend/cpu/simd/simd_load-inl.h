// Loading the first lanes of a vector without touching what lies behind them,
// for inclusion after simd.h in files that use its pattern.

// clang-format off
#if defined(HOTARU_SIMD_LOAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_SIMD_LOAD_INL_H
#undef HOTARU_SIMD_LOAD_INL_H
#else
#define HOTARU_SIMD_LOAD_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

/// The lanes of a mask made by FirstN, zeros in the others. Highway's own
/// MaskedLoad reads whole vectors on targets without masked loads.
template <class D, class M>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first(
    M mask, D d, const hwy::HWY_NAMESPACE::TFromD<D>* p) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())] = {};
  const size_t n = hn::CountTrue(d, mask);
  for (size_t i = 0; i < n; ++i) lanes[i] = p[i];
  return hn::Load(d, lanes);
#else
  return hn::MaskedLoad(mask, d, p);
#endif
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
