// Products of quads: four bytes in a lane of 32 bits. For inclusion after
// simd.h in files that use its pattern.

// clang-format off
#if defined(HOTARU_QUADS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_QUADS_INL_H
#undef HOTARU_QUADS_INL_H
#else
#define HOTARU_QUADS_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

/// sum plus the products of four unsigned bytes of a and signed ones of b, by
/// AVX512-VNNI, which the processor must have. By value: sums whose address is
/// taken would stay in memory.
template <class A, class B, class V>
HWY_INLINE V add_quads(A a, B b, V sum) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif
