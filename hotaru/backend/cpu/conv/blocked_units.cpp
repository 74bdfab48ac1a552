#include "hotaru/backend/cpu/conv/blocked_units.h"

#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv/blocked_units.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/conv/block-inl.h"
#include "hotaru/backend/cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

/// A pixel's words of a unit, or zeros.
HWY_INLINE void put(float* to, const float* from) {
  const hn::CappedTag<float, size_t(kUnit)> d;
  for (int i = 0; i < kUnit; i += int(hn::MaxLanes(d)))
    hn::StoreU(from ? hn::LoadU(d, from + i) : hn::Zero(d), d, to + i);
}

/// Both of them at a pixel.
HWY_INLINE void put_both(float* to, const float* first, const float* second) {
#if HWY_TARGET == HWY_AVX3
  const hn::CappedTag<float, size_t(kUnit)> half;
  const hn::CappedTag<float, size_t(kUnitPair)> d;
  hn::StoreU(hn::Combine(d, hn::LoadU(half, second), hn::LoadU(half, first)), d,
             to);
#else
  put(to, first);
  put(to + kUnit, second);
#endif
}

/// Words of two units at `pixels` pixels, `step` words apart. The second one
/// may be null: zeros.
void put_units(const Unit& first, const Unit* second, int64_t step, int pixels,
               float* to) {
  const auto one = [&](int p) HOTARU_SIMD_LAMBDA {
    const auto has = [&](const Unit& unit) {
      return unit.edge != TileEdge::kNothing && (p > 0 || unit.has_first()) &&
             (p + 1 < pixels || unit.has_last());
    };
    put(to + p * kUnitPair, has(first) ? first.x + p * step : nullptr);
    put(to + p * kUnitPair + kUnit,
        second && has(*second) ? second->x + p * step : nullptr);
  };
  if (!second || first.edge == TileEdge::kNothing ||
      second->edge == TileEdge::kNothing) {
    for (int p = 0; p < pixels; ++p) one(p);
    return;
  }
  const bool begin = first.has_first() && second->has_first();
  const bool end = first.has_last() && second->has_last();
  if (!begin) one(0);
  if (!end && (pixels > 1 || begin)) one(pixels - 1);
  const float *a = first.x, *b = second->x;
  for (int p = begin ? 0 : 1; p < pixels - (end ? 0 : 1); ++p)
    put_both(to + p * kUnitPair, a + p * step, b + p * step);
}

/// What becomes of sums of pixels of a block: see BlockedTile. `q` is the
/// block.
template <class Products>
void end_sums(const BlockedTile& t, int q, const float* sums) {
  const D d;
  const float* const y = t.y + q * t.y_output;
  const V low = hn::Set(d, t.bounds.low), high = hn::Set(d, t.bounds.high);
  const auto for_vectors = [&](const auto& f) HOTARU_SIMD_LAMBDA {
    for (int v = 0; v < kBlock; v += kLanes) {
      const V shift =
          t.shift ? hn::LoadU(d, t.shift + q * kBlock + v) : hn::Zero(d);
      for (int at = v; at < t.pixels * kBlock; at += kBlock) {
        V sum = hn::LoadU(d, sums + at);
        sum = hn::Add(sum, t.shift ? shift : hn::LoadU(d, y + at));
        f(sum, at);
      }
    }
  };
  if (t.rounds) {
    auto* const to = reinterpret_cast<BFloat16*>(t.y + q * t.y_output);
    const auto store = [&](V v, int at) HOTARU_SIMD_LAMBDA {
      hotaru::HWY_NAMESPACE::store_rounded<Products>(bounded(v, low, high),
                                                     to + at);
    };
    if (!t.residual) return for_vectors(store);
    const auto* more =
        reinterpret_cast<const BFloat16*>(t.residual + q * t.y_output);
    return for_vectors([&](V v, int at) HOTARU_SIMD_LAMBDA {
      store(hn::Add(v, hotaru::HWY_NAMESPACE::load_bf16(d, more + at)), at);
    });
  }
  float* const to = t.y + q * t.y_output;
  const float* const from = t.residual ? t.residual + q * t.y_output : to;
  with_ending(t.finish && t.residual, t.finish ? t.bounds : SumBounds(),
              [&](const auto& last) HOTARU_SIMD_LAMBDA {
                for_vectors([&](V v, int at) HOTARU_SIMD_LAMBDA {
                  hn::StoreU(last(v, from + at), d, to + at);
                });
              });
}

void end_split(const BlockedTile& t, int q, const float* sums) {
  end_sums<hotaru::HWY_NAMESPACE::SplitProducts>(t, q, sums);
}

void end_native(const BlockedTile& t, int q, const float* sums) {
#if HWY_TARGET == HWY_AVX3
  end_sums<hotaru::HWY_NAMESPACE::PairProducts>(t, q, sums);
#else
  end_split(t, q, sums);
#endif
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(put_units);
HWY_EXPORT(end_split);
HWY_EXPORT(end_native);

void put_together(const Unit& first, const Unit* second, int64_t step,
                  int pixels, float* to) {
  HWY_DYNAMIC_DISPATCH(put_units)(first, second, step, pixels, to);
}

void end_units(const BlockedTile& t, int q, const float* sums) {
  static const bool native = simd_has_bf16_products();
  native ? HWY_DYNAMIC_DISPATCH(end_native)(t, q, sums)
         : HWY_DYNAMIC_DISPATCH(end_split)(t, q, sums);
}

}  // namespace hotaru::cpu
#endif
