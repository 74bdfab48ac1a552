// Helpers that kernels need beside Highway: loading the first lanes of a vector
// without touching what lies behind them, and sums of products in place. For
// inclusion after simd.h in files that use its pattern.

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

/// sum += a * b. Where instructions can do that in place they do: compilers
/// reuse the register of a or b for the sum, and then move, and spill, sums
/// from step to step of an unrolled loop.
template <class V>
HWY_INLINE void add_product(V& sum, const V& a, const V& b) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(hwy::HWY_NAMESPACE::TFromV<V>) == 4)
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  else
    asm("vfmadd231pd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
#else
  sum = hwy::HWY_NAMESPACE::MulAdd(a, b, sum);
#endif
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
