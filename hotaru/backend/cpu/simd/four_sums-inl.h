// The sums of several vectors at once. For inclusion after simd.h in files that
// use its pattern.

// clang-format off
#if defined(HOTARU_FOUR_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_FOUR_SUMS_INL_H
#undef HOTARU_FOUR_SUMS_INL_H
#else
#define HOTARU_FOUR_SUMS_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

/// The sums of four vectors of 32-bit lanes, in the order of SumOfLanes: all of
/// a block's halves are added to each other before its lanes are.
template <class D, class V>
HWY_INLINE auto four_sums(D d, V a, V b, V c, V e) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> h;
    const auto half = [&](V v) HOTARU_SIMD_LAMBDA {
      return hn::Add(hn::LowerHalf(h, v), hn::UpperHalf(h, v));
    };
    return four_sums(h, half(a), half(b), half(c), half(e));
  } else {
    const auto ab =
        hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
    const auto ce =
        hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
    return hn::Add(hn::ConcatLowerLower(d, ce, ab),
                   hn::ConcatUpperUpper(d, ce, ab));
  }
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif
