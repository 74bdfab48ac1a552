// Rows of numbers in whole vectors and a rest, and e^x of differences to their
// maximum. For inclusion after simd.h in files that use its pattern.

// clang-format off
#if defined(HOTARU_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_SOFTMAX_INL_H
#undef HOTARU_SOFTMAX_INL_H
#else
#define HOTARU_SOFTMAX_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "hotaru/backend/cpu/simd/simd_load-inl.h"
#include "hotaru/backend/cpu/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// f(i, lanes) for each whole vector of n elements, with lanes as a compile
/// time mark of a full vector, then f(i, count) for the rest.
struct Whole {};
template <class T, class F>
HWY_INLINE void for_vectors(int64_t n, const F& f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i, Whole{});
  if (i < n) f(i, n - i);
}

template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x, Whole) {
  return hn::LoadU(d, x);
}
/// The first `count` elements, then zeros.
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x, int64_t count) {
  return hotaru::HWY_NAMESPACE::load_first(hn::FirstN(d, size_t(count)), d, x);
}

template <class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* y, Whole) {
  hn::StoreU(v, d, y);
}
template <class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* y, int64_t count) {
  hn::BlendedStore(v, hn::FirstN(d, size_t(count)), d, y);
}

/// v with `rest` behind its first `count` lanes.
template <class D>
HWY_INLINE hn::Vec<D> first(D, hn::Vec<D> v, Whole, hn::Vec<D>) {
  return v;
}
template <class D>
HWY_INLINE hn::Vec<D> first(D d, hn::Vec<D> v, int64_t count, hn::Vec<D> rest) {
  return hn::IfThenElse(hn::FirstN(d, size_t(count)), v, rest);
}

/// y * 2^n, about e^x: 0 for x below the normal range, NaN for NaN.
template <class D, class V>
HWY_INLINE V times_power(D d, V y, V n, V x) {
  const V least = hn::Set(d, -87.0f);
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16)
    return V{
        _mm512_maskz_scalef_ps(hn::Not(hn::Lt(x, least)).raw, y.raw, n.raw)};
#endif
  const hn::RebindToSigned<D> di;
  const auto power =
      hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  // A product, as NaN stays NaN whatever it was converted to.
  return hn::IfThenZeroElse(hn::Lt(x, least),
                            hn::Mul(y, hn::BitCast(d, power)));
}

/// e^x for the differences to a maximum, x <= 0; 0 below the normal range, NaN
/// for NaN.
template <class D>
HWY_INLINE hn::Vec<D> exp_negative(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  if constexpr (std::is_same_v<T, double>) {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
  } else {
    const auto n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
    const auto r = hotaru::HWY_NAMESPACE::simd_minus_ln2(d, x, n);
    const auto p = hotaru::HWY_NAMESPACE::simd_exp_polynomial(d, r);
    const auto y = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
    return times_power(d, y, n, x);
  }
}

/// The same for results of bfloat16, within 1.1e-4 of them, a thirtieth of what
/// they are rounded by; 1 for 0. A polynomial of least relative error.
template <class D>
HWY_INLINE hn::Vec<D> brief_exp_negative(D d, hn::Vec<D> x) {
  const auto n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  const auto r = hn::MulAdd(n, hn::Set(d, -0.693147181f), x);
  auto y = hn::Set(d, 0.165178061f);
  for (const float c : {0.504134476f, 1.00019622f, 1.0f})
    y = hn::MulAdd(y, r, hn::Set(d, c));
  return times_power(d, y, n, x);
}

template <class T, class V, class D>
HWY_INLINE T total(D d, V v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

/// The largest ones of kRows rows, in all lanes. With a NaN they may be
/// anything.
template <int kRows, class T, class V>
HWY_INLINE void find_largest(const T* x, int64_t stride, int64_t n,
                             V (&largest)[kRows]) {
  const hn::ScalableTag<T> d;
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) largest[r] = lowest;
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      const auto v = load(d, x + r * stride + i, count);
      largest[r] = hn::Max(largest[r], first(d, v, count, lowest));
    }
  });
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r)
    largest[r] = hn::Set(d, hn::GetLane(hn::MaxOfLanes(d, largest[r])));
}

/// e^(x - largest of its row) of kRows rows of n at a time, `stride` apart:
/// what one waits for, the others compute meanwhile. put(r, i, count, e) takes
/// them, which may be in place; factors[r] = 1 / their sum. With a NaN they are
/// all NaN. kBrief: by brief_exp_negative().
template <int kRows, bool kBrief = false, class T, class Put>
HWY_INLINE void exp_group(const T* x, int64_t stride, int64_t n, T* factors,
                          const Put& put) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> largest[kRows], sum[kRows];
  find_largest<kRows>(x, stride, n, largest);
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) sum[r] = hn::Zero(d);
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      const auto below =
          hn::Sub(load(d, x + r * stride + i, count), largest[r]);
      hn::Vec<decltype(d)> e;
      if constexpr (kBrief)
        e = brief_exp_negative(d, below);
      else
        e = exp_negative(d, below);
      put(r, i, count, e);
      sum[r] = hn::Add(sum[r], first(d, e, count, hn::Zero(d)));
    }
  });
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) factors[r] = T(1) / total<T>(d, sum[r]);
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HOTARU_SOFTMAX_INL_H
