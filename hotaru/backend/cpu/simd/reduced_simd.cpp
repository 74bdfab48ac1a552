#include "hotaru/backend/cpu/simd/reduced_simd.h"

#include <limits>

#include "hotaru/backend/cpu/independent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/simd/reduced_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// Below simd.h, which chooses the target.
#include "hotaru/backend/cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T, class F>
HWY_ATTR HWY_INLINE void widen_all(const T* x, float* out, int64_t n,
                                   const F& load) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(load(x + i), d, out + i);
  for (; i < n; ++i) out[i] = float(x[i]);
}

template <class T>
HWY_ATTR void narrow_all(const float* x, T* out, int64_t n) {
  HOTARU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = T(x[i]);
}

HWY_ATTR void widen_half(const Half* x, float* out, int64_t n) {
  widen_all(x, out, n, [](const Half* at) HOTARU_SIMD_LAMBDA {
    return hotaru::HWY_NAMESPACE::load_half(hn::ScalableTag<float>(), at);
  });
}
HWY_ATTR void widen_bfloat16(const BFloat16* x, float* out, int64_t n) {
  widen_all(x, out, n, [](const BFloat16* at) HOTARU_SIMD_LAMBDA {
    return hotaru::HWY_NAMESPACE::load_bf16(hn::ScalableTag<float>(), at);
  });
}
HWY_ATTR void narrow_half(const float* x, Half* out, int64_t n) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  // Where demotion is an instruction it rounds to nearest even; elsewhere it
  // may not. A NaN keeps but its sign, as in Half.
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> to;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const auto put = [&](hn::Vec<decltype(d)> v, int64_t at) HOTARU_SIMD_LAMBDA {
    hn::StoreU(hn::DemoteTo(to, v), to,
               reinterpret_cast<hwy::float16_t*>(out) + at);
  };
  for (; n >= 4 * lanes; n -= 4 * lanes, x += 4 * lanes, out += 4 * lanes) {
    const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + lanes),
               c = hn::LoadU(d, x + 2 * lanes), e = hn::LoadU(d, x + 3 * lanes);
    const auto nans = hn::Or(hn::Or(hn::IsNaN(a), hn::IsNaN(b)),
                             hn::Or(hn::IsNaN(c), hn::IsNaN(e)));
    if (!hn::AllFalse(d, nans)) break;  // the others go one by one
    put(a, 0), put(b, lanes), put(c, 2 * lanes), put(e, 3 * lanes);
  }
  for (; n >= lanes; n -= lanes, x += lanes, out += lanes) {
    const auto v = hn::LoadU(d, x);
    const auto clean = hn::IfThenElse(hn::IsNaN(v), hn::CopySign(nan, v), v);
    put(clean, 0);
  }
#endif
  narrow_all(x, out, n);
}
HWY_ATTR void narrow_bfloat16(const float* x, BFloat16* out, int64_t n) {
  narrow_all(x, out, n);
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(widen_half);
HWY_EXPORT(widen_bfloat16);
HWY_EXPORT(narrow_half);
HWY_EXPORT(narrow_bfloat16);

void widen(const Half* x, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(widen_half)(x, out, n);
}
void widen(const BFloat16* x, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(widen_bfloat16)(x, out, n);
}
void narrow(const float* x, Half* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(narrow_half)(x, out, n);
}
void narrow(const float* x, BFloat16* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(narrow_bfloat16)(x, out, n);
}

}  // namespace hotaru::cpu
#endif
