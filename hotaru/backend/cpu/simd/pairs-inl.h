// Pairs of bfloat16 in lanes of 32 bits, the first one in the lower half: how
// they are made, and products of them. For inclusion after simd.h in files that
// use its pattern.

// clang-format off
#if defined(HOTARU_PAIRS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_PAIRS_INL_H
#undef HOTARU_PAIRS_INL_H
#else
#define HOTARU_PAIRS_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#include "hotaru/backend/cpu/simd/simd_load-inl.h"
#include "hotaru/core/half.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

/// The first ones of pairs as floats.
template <class V>
HWY_INLINE V lower(V pairs) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(bits, pairs)));
}

/// The second ones.
template <class V>
HWY_INLINE V upper(V pairs) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  return hn::BitCast(
      d, hn::And(hn::BitCast(bits, pairs), hn::Set(bits, 0xFFFF0000u)));
}

/// Numbers of bfloat16 as floats.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_bf16(D d, const BFloat16* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> words;
  const hn::Rebind<uint16_t, D> half;
  const auto bits = hn::LoadU(half, reinterpret_cast<const uint16_t*>(p));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, bits)));
}

/// Numbers of float16 as floats.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_half(D d, const Half* p) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_SCALAR  // whose promotion takes infinity for a number
  return hn::Set(d, float(*p));
#else
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(
      d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(p)));
#endif
}

/// Bits of floats rounded to bfloat16, in the lower halves.
template <class V>
HWY_INLINE auto rounded(V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<hn::DFromV<V>> d;
  const auto bits = hn::BitCast(d, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1u));
  const auto sum = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7FFFu)));
  // A NaN must not be rounded to infinity.
  const auto nan = hn::Or(bits, hn::Set(d, 0x400000u));
  return hn::ShiftRight<16>(
      hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), nan, sum));
}

template <class V>
using HalvesTag =
    hwy::HWY_NAMESPACE::Rebind<uint16_t, hwy::HWY_NAMESPACE::DFromV<V>>;
template <class V>
using Halves = hwy::HWY_NAMESPACE::Vec<HalvesTag<V>>;

/// sum += both products of each lane's pairs; where there is no instruction
/// for it.
struct SplitProducts {
  template <class V>
  static HWY_INLINE void add(V& sum, const V& a, const V& b) {
    add_product(sum, upper(a), upper(b));
    add_product(sum, lower(a), lower(b));
  }
  /// Floats as bits of bfloat16.
  template <class V>
  static HWY_INLINE Halves<V> round(V v) {
    return hwy::HWY_NAMESPACE::TruncateTo(HalvesTag<V>(), rounded(v));
  }
};

#if HWY_TARGET == HWY_AVX3
/// By AVX512-BF16, which the processor must have; subnormal numbers are zero.
struct PairProducts {
  template <class V>
  static HWY_INLINE void add(V& sum, const V& a, const V& b) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  }
  template <class V>
  static HWY_INLINE Halves<V> round(V v) {
    Halves<V> half;
    asm("vcvtneps2bf16 %1, %0" : "=v"(half.raw) : "v"(v.raw));
    return half;
  }
  /// Rounds two vectors into one, the first one's first.
  template <class V>
  static HWY_INLINE auto round_both(V low, V high) {
    namespace hn = hwy::HWY_NAMESPACE;
    hn::Vec<hn::Repartition<uint16_t, hn::DFromV<V>>> both;
    asm("vcvtne2ps2bf16 %1, %2, %0"
        : "=v"(both.raw)
        : "v"(low.raw), "v"(high.raw));
    return both;
  }
};
#endif

/// Floats as numbers of bfloat16, rounded as products P do; all or the first
/// `count`.
template <class P, class V>
HWY_INLINE void store_rounded(V v, BFloat16* to) {
  hwy::HWY_NAMESPACE::StoreU(P::round(v), HalvesTag<V>(),
                             reinterpret_cast<uint16_t*>(to));
}
/// Two vectors behind each other, by one store where products have that.
template <class P, class V>
HWY_INLINE void store_both(V low, V high, BFloat16* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::DFromV<V> d;
  if constexpr (requires { P::round_both(low, high); }) {
    const hn::Repartition<uint16_t, hn::DFromV<V>> both;
    hn::StoreU(P::round_both(low, high), both, reinterpret_cast<uint16_t*>(to));
  } else {
    store_rounded<P>(low, to);
    store_rounded<P>(high, to + hn::MaxLanes(d));
  }
}
template <class P, class V>
HWY_INLINE void store_rounded(V v, BFloat16* to, size_t count) {
  // Halves have no masks everywhere.
  HWY_ALIGN uint16_t part[HWY_MAX_BYTES / sizeof(float)];
  hwy::HWY_NAMESPACE::Store(P::round(v), HalvesTag<V>(), part);
  for (size_t i = 0; i < count; ++i) to[i].bits = part[i];
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
