#include "hotaru/backend/cpu/resample/grid_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/resample/grid_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

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

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(sums);
void gather_sums(const float* from, const int32_t* offsets,
                 const float* weights, int64_t slots, float* out) {
  HWY_DYNAMIC_DISPATCH(sums)(from, offsets, weights, slots, out);
}

}  // namespace hotaru::cpu
#endif
