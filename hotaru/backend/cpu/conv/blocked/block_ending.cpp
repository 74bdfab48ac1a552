// Ending of the sums of blocked convolutions, where that takes more than
// bounds: a pass over results that are in the first-level cache.
#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv/blocked/block_ending.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/conv/blocked/block-inl.h"
#include "hotaru/backend/cpu/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace hotaru::HWY_NAMESPACE;  // the functions

using Kind = ConvEnding::Kind;
using Finish = void (*)(float*, int64_t);

/// min(max(x + 3, 0), 6); NaN stays.
HWY_INLINE V relu6_of_3(V x) {
  const D d;
  return bounded(hn::Add(x, hn::Set(d, 3.0f)), hn::Zero(d), hn::Set(d, 6.0f));
}

template <Kind kind>
HWY_INLINE V ended(V x) {
  const D d;
  const V six = hn::Set(d, 6.0f);
  if constexpr (kind == Kind::kSigmoid) return simd_sigmoid(d, x);
  if constexpr (kind == Kind::kTanh) return simd_tanh(d, x);
  if constexpr (kind == Kind::kSilu) return hn::Mul(x, simd_sigmoid(d, x));
  if constexpr (kind == Kind::kGelu) return hn::Mul(x, simd_normal_cdf(d, x));
  if constexpr (kind == Kind::kGeluTanh) return simd_gelu_tanh(d, x);
  if constexpr (kind == Kind::kHardSigmoid) return hn::Div(relu6_of_3(x), six);
  return hn::Div(hn::Mul(x, relu6_of_3(x)), six);
}

template <Kind kind>
void finish(float* x, int64_t n) {
  const D d;
  HWY_UNROLL(2)
  for (; n > 0; n -= kLanes, x += kLanes)
    hn::StoreU(ended<kind>(hn::LoadU(d, x)), d, x);
}

Finish find_finish(Kind kind) {
  switch (kind) {
    case Kind::kNone:
    case Kind::kClamp:
      return nullptr;
    case Kind::kSigmoid:
      return &finish<Kind::kSigmoid>;
    case Kind::kTanh:
      return &finish<Kind::kTanh>;
    case Kind::kSilu:
      return &finish<Kind::kSilu>;
    case Kind::kGelu:
      return &finish<Kind::kGelu>;
    case Kind::kGeluTanh:
      return &finish<Kind::kGeluTanh>;
    case Kind::kHardSigmoid:
      return &finish<Kind::kHardSigmoid>;
    case Kind::kHardSwish:
      return &finish<Kind::kHardSwish>;
  }
  return nullptr;
}

/// All pixels of a block times a number for each channel.
void scale_block(const float* x, const float* numbers, int64_t pixels,
                 float* y) {
  const D d;
  for (int64_t v = 0; v < kChannelBlock; v += kLanes) {
    const V scale = hn::LoadU(d, numbers + v);
    for (int64_t i = v; i < pixels * kChannelBlock; i += kChannelBlock)
      hn::StoreU(hn::Mul(hn::LoadU(d, x + i), scale), d, y + i);
  }
}

BlockScale find_scale() {
  return &scale_block;
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(find_finish);
HWY_EXPORT(find_scale);

BlockEnding::BlockEnding(const ConvEnding& ending)
    : bounds_{ending.kind == ConvEnding::Kind::kClamp, ending.low, ending.high},
      then_(HWY_DYNAMIC_DISPATCH(find_finish)(ending.kind)) {}

BlockScale block_scale() {
  return HWY_DYNAMIC_DISPATCH(find_scale)();
}

}  // namespace hotaru::cpu
#endif
