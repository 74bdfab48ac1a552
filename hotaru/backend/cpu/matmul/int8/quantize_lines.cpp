#include "hotaru/backend/cpu/matmul/int8/quantize_lines.h"

#include <limits>

#ifndef HOTARU_NO_FUSED
#error "needs -ffp-contract=off: see hotaru_own_flags in hotaru/CMakeLists.txt"
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/int8/quantize_lines.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(D()));

HWY_ATTR Extent extent(const float* x, int64_t n) {
  const D d;
  auto low = hn::Zero(d), high = low;
  // A sum of differences is NaN where any number is NaN or infinite; then the
  // numbers are looked at one by one.
  auto apart = low;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto v = hn::LoadU(d, x + i);
    low = hn::Min(low, v);
    high = hn::Max(high, v);
    apart = hn::Add(apart, hn::Sub(v, v));
  }
  Extent out{hn::GetLane(hn::MinOfLanes(d, low)),
             hn::GetLane(hn::MaxOfLanes(d, high))};
  const bool plain = hn::GetLane(hn::SumOfLanes(d, apart)) == 0;
  for (int64_t j = plain ? i : 0; j < n; ++j) {
    if (std::isnan(x[j])) {
      constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
      return {kNaN, kNaN};
    }
    out = {std::min(out.low, x[j]), std::max(out.high, x[j])};
  }
  return out;
}

/// to[i] = the byte nearest to level(x[i]), an integer, of which `level` makes
/// whole vectors and single floats.
template <class Level>
HWY_INLINE void bytes_of(const float* x, int64_t n, uint8_t* to,
                         const Level& level) {
  const D d;
  const hn::Rebind<int32_t, D> whole;
  const hn::Rebind<uint8_t, D> bytes;
  const auto most = hn::Set(d, 255.0f);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto v = level.of(hn::LoadU(d, x + i));
    const auto limited = hn::Min(hn::Max(v, hn::Zero(d)), most);
    hn::StoreU(hn::DemoteTo(bytes, hn::ConvertTo(whole, limited)), bytes,
               to + i);
  }
  // 0 for NaN here as there: std::max gives its first where they don't compare.
  for (; i < n; ++i)
    to[i] = uint8_t(std::min(std::max(0.0f, level.of(x[i])), 255.0f));
}

/// round(x * inverse + zero). Not one instruction: the product is rounded
/// first.
struct Multiplied {
  float inverse, zero;

  HWY_INLINE V of(V x) const {
    const V product = hn::Mul(x, hn::Set(D(), inverse));
    return hn::Round(hn::Add(product, hn::Set(D(), zero)));
  }
  float of(float x) const {
    const float product = x * inverse;
    return std::nearbyint(product + zero);
  }
};

/// round(x / scale) + zero.
struct Divided {
  float scale, zero;

  HWY_INLINE V of(V x) const {
    const V level = hn::Round(hn::Div(x, hn::Set(D(), scale)));
    return hn::Add(level, hn::Set(D(), zero));
  }
  float of(float x) const { return std::nearbyint(x / scale) + zero; }
};

HWY_ATTR void quantize(const float* x, int64_t n, float inverse, float zero,
                       uint8_t* to) {
  bytes_of(x, n, to, Multiplied{inverse, zero});
}

HWY_ATTR void divide(const float* x, int64_t n, float scale, float zero,
                     uint8_t* to) {
  bytes_of(x, n, to, Divided{scale, zero});
}

QuantizeLines table() {
  return {&extent, &quantize, &divide};
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(table);

const QuantizeLines& quantize_lines() {
  static const QuantizeLines lines = HWY_DYNAMIC_DISPATCH(table)();
  return lines;
}

}  // namespace hotaru::cpu
#endif
