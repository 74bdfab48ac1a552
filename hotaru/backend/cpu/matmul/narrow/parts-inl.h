// Floats as integers of 24 bits with a scale, each integer three signed bytes,
//   x = (65536 first + 256 second + third) * scale,
// for products of bytes by AVX512-VNNI. For inclusion after simd.h in files
// that use its pattern.

// clang-format off
#if defined(HOTARU_PARTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_PARTS_INL_H
#undef HOTARU_PARTS_INL_H
#else
#define HOTARU_PARTS_INL_H
#endif
// clang-format on

#include "hotaru/backend/cpu/matmul/narrow/weight_only-inl.h"
#include "hotaru/backend/cpu/simd/quads-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {

using hotaru::HWY_NAMESPACE::add_quads;
using Integers = hn::Vec<hn::RebindToSigned<Words>>;

constexpr int kParts = 3;
/// The largest integer whose first byte is a signed one.
constexpr float kMostOfParts = 127 * 65536;

/// Numbers that have one scale.
struct Extent {
  float most, sizes;  // the largest magnitude, and what all add up to
  float sum;
  /// Not where a number is not finite, or the inverse of the largest wouldn't
  /// be.
  bool has_parts;

  float scale() const { return most / kMostOfParts; }
  float inverse() const { return most > 0 ? kMostOfParts / most : 0; }
};

HWY_INLINE Extent extent_of(const float* x, int64_t n) {
  const D d;
  V most = hn::Zero(d), sum = hn::Zero(d), apart = hn::Zero(d);
  V sizes = hn::Zero(d);
  for (int64_t i = 0; i < n; i += kLanes) {
    const V v = hn::MaskedLoad(hn::FirstN(d, size_t(n - i)), d, x + i);
    most = hn::Max(most, hn::Abs(v));
    sizes = hn::Add(sizes, hn::Abs(v));
    sum = hn::Add(sum, v);
    apart = hn::Add(apart, hn::Sub(v, v));  // NaN of what is not finite
  }
  Extent e{hn::GetLane(hn::MaxOfLanes(d, most)), lane_sum(sizes), lane_sum(sum),
           false};
  e.has_parts = lane_sum(apart) == 0 && (e.most == 0 || e.most > 1e-33f);
  return e;
}

/// Bytes of n numbers times `by`: part p of number i goes to to[p * apart + i].
HWY_INLINE void split(const float* x, int64_t n, float by, int64_t apart,
                      int8_t* to) {
  const D d;
  const hn::Rebind<uint8_t, D> bytes;
  for (int64_t i = 0; i < n; i += kLanes) {
    const auto count = size_t(std::min(kLanes, n - i));
    const V numbers = hn::MaskedLoad(hn::FirstN(d, count), d, x + i);
    Integers v = hn::NearestInt(hn::Mul(numbers, hn::Set(d, by)));
    for (int part = kParts - 1; part >= 0; --part) {
      hn::BlendedStore(hn::TruncateTo(bytes, hn::BitCast(Words(), v)),
                       hn::FirstN(bytes, count), bytes,
                       reinterpret_cast<uint8_t*>(to) + part * apart + i);
      v = hn::ShiftRight<8>(
          hn::Sub(v, hn::ShiftRight<24>(hn::ShiftLeft<24>(v))));
    }
  }
}

}  // namespace
}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif
