#include "hotaru/backend/cpu/resample/grid_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/resample/grid_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: it, too, is compiled for each target.
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void sums(const float* from, const int32_t* offsets, const float* weights,
          int64_t slots, float* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto zero = hn::Zero(di), none = hn::Set(di, -1);
  for (int64_t p = 0; p < kGatherRun; p += lanes) {
    auto sum = hn::Zero(d);
    for (int64_t s = 0; s < slots; ++s) {
      const auto at = hn::LoadU(di, offsets + s * kGatherRun + p);
      const auto x =
          hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(at, none)),
                             hn::GatherIndex(d, from, hn::Max(at, zero)));
      sum = hn::MulAdd(hn::LoadU(d, weights + s * kGatherRun + p), x, sum);
    }
    hn::StoreU(sum, d, out + p);
  }
}

void pixels(const float* from, int64_t channels, const int32_t* offsets,
            const float* weights, int64_t slots, int64_t count, float* out) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  for (int64_t p = 0; p < count; ++p, out += channels) {
    // At most as many as there are slots, those outside left out.
    const float* pixel[16];
    float weight[16];
    int64_t taps = 0;
    for (int64_t s = 0; s < slots; ++s) {
      const int32_t at = offsets[s * kGatherRun + p];
      if (at < 0) continue;
      pixel[taps] = from + at * channels;
      weight[taps++] = weights[s * kGatherRun + p];
    }
    int64_t c = 0;
    for (; c + lanes <= channels; c += lanes) {
      auto sum = hn::Zero(d);
      for (int64_t t = 0; t < taps; ++t)
        sum =
            hn::MulAdd(hn::Set(d, weight[t]), hn::LoadU(d, pixel[t] + c), sum);
      hn::StoreU(sum, d, out + c);
    }
    if (c == channels) continue;
    const auto mask = hn::FirstN(d, size_t(channels - c));
    auto sum = hn::Zero(d);
    for (int64_t t = 0; t < taps; ++t)
      sum = hn::MulAdd(hn::Set(d, weight[t]),
                       hotaru::HWY_NAMESPACE::load_first(mask, d, pixel[t] + c),
                       sum);
    hn::BlendedStore(sum, mask, d, out + c);
  }
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(sums);
void gather_sums(const float* from, const int32_t* offsets,
                 const float* weights, int64_t slots, float* out) {
  HWY_DYNAMIC_DISPATCH(sums)(from, offsets, weights, slots, out);
}

HWY_EXPORT(pixels);
void pixel_sums(const float* from, int64_t channels, const int32_t* offsets,
                const float* weights, int64_t slots, int64_t count,
                float* out) {
  HWY_DYNAMIC_DISPATCH(pixels)
  (from, channels, offsets, weights, slots, count, out);
}

}  // namespace hotaru::cpu
#endif
