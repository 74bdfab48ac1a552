#include "hotaru/backend/cpu/random/box_muller.h"

#include <cmath>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/random/box_muller.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 8>;
using V = hn::Vec<D>;

/// a * b + c with one rounding on every target, since draws must not depend
/// on the machine.
HWY_INLINE V fused(V a, V b, V c) {
#if HWY_TARGET == HWY_SCALAR
  const D d;
  return hn::Set(d, std::fma(hn::GetLane(a), hn::GetLane(b), hn::GetLane(c)));
#elif !HWY_NATIVE_FMA
  const D d;
  HWY_ALIGN float x[8], y[8], z[8];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#else
  return hn::MulAdd(a, b, c);
#endif
}

/// Cephes logf for positive, finite, normal x.
HWY_INLINE V log_cephes(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  V e = hn::ConvertTo(d, hn::Sub(hn::ShiftRight<23>(bits), hn::Set(di, 0x7e)));
  x = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(di, 0x007fffff)),
                            hn::Set(di, 0x3f000000)));
  const V one = hn::Set(d, 1.0f);
  const auto small = hn::Lt(x, hn::Set(d, 0.707106781186547524f));
  const V kept = hn::IfThenElseZero(small, x);
  e = hn::Sub(e, hn::IfThenElseZero(small, one));
  x = hn::Add(hn::Sub(x, one), kept);
  const V z = hn::Mul(x, x);
  V y = hn::Set(d, 7.0376836292e-2f);
  for (float c : {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
                  1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f,
                  -2.4999993993e-1f, 3.3333331174e-1f})
    y = fused(y, x, hn::Set(d, c));
  y = fused(hn::Mul(y, x), z, hn::Mul(e, hn::Set(d, -2.12194440e-4f)));
  y = fused(z, hn::Set(d, -0.5f), y);
  return fused(e, hn::Set(d, 0.693359375f), hn::Add(x, y));
}

/// Cephes sinf and cosf for x >= 0 far below the int range.
HWY_INLINE void sin_cos_cephes(V x, V& sine, V& cosine) {
  const D d;
  const hn::RebindToSigned<D> di;
  auto octant =
      hn::ConvertTo(di, hn::Mul(x, hn::Set(d, float(4 / std::numbers::pi))));
  octant = hn::And(hn::Add(octant, hn::Set(di, 1)), hn::Set(di, ~1));
  const V y = hn::ConvertTo(d, octant);
  // pi / 4 in three parts, the first two exact in products with small y.
  for (float part :
       {-0.78515625f, -2.4187564849853515625e-4f, -3.77489497744594108e-8f})
    x = fused(y, hn::Set(d, part), x);
  const auto bit = [&](auto v, int mask) {
    return hn::And(v, hn::Set(di, mask));
  };
  const V sine_sign = hn::BitCast(d, hn::ShiftLeft<29>(bit(octant, 4)));
  const V cosine_sign = hn::BitCast(
      d, hn::ShiftLeft<29>(bit(hn::Not(hn::Sub(octant, hn::Set(di, 2))), 4)));
  const auto swapped = hn::RebindMask(d, hn::Ne(bit(octant, 2), hn::Zero(di)));

  const V z = hn::Mul(x, x);
  V c = hn::Set(d, 2.443315711809948e-5f);
  c = fused(c, z, hn::Set(d, -1.388731625493765e-3f));
  c = fused(c, z, hn::Set(d, 4.166664568298827e-2f));
  c = fused(hn::Mul(c, z), z, hn::Mul(z, hn::Set(d, -0.5f)));
  c = hn::Add(c, hn::Set(d, 1.0f));
  V s = hn::Set(d, -1.9515295891e-4f);
  s = fused(s, z, hn::Set(d, 8.3321608736e-3f));
  s = fused(s, z, hn::Set(d, -1.6666654611e-1f));
  s = fused(hn::Mul(s, z), x, x);

  sine = hn::Xor(hn::IfThenElse(swapped, c, s), sine_sign);
  cosine = hn::Xor(hn::IfThenElse(swapped, s, c), cosine_sign);
}

void box_muller_16(float* values, float mean, float std) {
  const D d;
  for (size_t j = 0; j < 8; j += hn::Lanes(d)) {
    const V u1 = hn::Sub(hn::Set(d, 1.0f), hn::LoadU(d, values + j));
    const V u2 = hn::LoadU(d, values + j + 8);
    const V radius = hn::Sqrt(hn::Mul(hn::Set(d, -2.0f), log_cephes(u1)));
    V sine, cosine;
    sin_cos_cephes(hn::Mul(hn::Set(d, float(2 * std::numbers::pi)), u2), sine,
                   cosine);
    const V scale = hn::Set(d, std), shift = hn::Set(d, mean);
    hn::StoreU(fused(hn::Mul(radius, cosine), scale, shift), d, values + j);
    hn::StoreU(fused(hn::Mul(radius, sine), scale, shift), d, values + j + 8);
  }
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(box_muller_16);

void box_muller_16(float* values, float mean, float std) {
  HWY_DYNAMIC_DISPATCH(box_muller_16)(values, mean, std);
}

}  // namespace hotaru
#endif
