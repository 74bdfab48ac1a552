#include "hotaru/backend/cpu/matmul/pair_kernels.h"

#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/pair_kernels.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/matmul/tile-inl.h"
#include "hotaru/backend/cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DBits = hn::RebindToUnsigned<D>;
using Bits = hn::Vec<DBits>;

constexpr int kLanes = int(hn::MaxLanes(D()));

HWY_INLINE uint32_t bits_of(BFloat16 x) {
  return x.bits;
}
HWY_INLINE uint32_t bits_of(float x) {
  return BFloat16(x).bits;
}

template <class T>
HWY_INLINE Bits load_bits(const T* x) {
  if constexpr (sizeof(T) == 4) {
    return rounded(hn::LoadU(D(), x));
  } else {
    const DBits d;
    const hn::Rebind<uint16_t, DBits> half;
    return hn::PromoteTo(d,
                         hn::LoadU(half, reinterpret_cast<const uint16_t*>(x)));
  }
}

template <class T>
HWY_INLINE void make_pairs(float* to, int64_t n, const T* first,
                           const T* second) {
  const DBits d;
  auto* out = reinterpret_cast<uint32_t*>(to);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Bits low = load_bits(first + i);
    const Bits high = second ? load_bits(second + i) : hn::Zero(d);
    hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), d, out + i);
  }
  for (; i < n; ++i)
    out[i] = bits_of(first[i]) | (second ? bits_of(second[i]) << 16 : 0u);
}

void pair(float* to, int64_t n, const BFloat16* first, const BFloat16* second) {
  make_pairs(to, n, first, second);
}

void pair_floats(float* to, int64_t n, const float* first,
                 const float* second) {
  make_pairs(to, n, first, second);
}

void round(const float* x, BFloat16* to, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store_rounded<SplitProducts>(hn::LoadU(D(), x + i), to + i);
  for (; i < n; ++i) to[i] = BFloat16(x[i]);
}

void split(const float* pairs, int64_t n, float* first, float* second) {
  const D d;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto v = hn::LoadU(d, pairs + i);
    hn::StoreU(lower(v), d, first + i);
    hn::StoreU(upper(v), d, second + i);
  }
  if (i == n) return;
  const auto mask = hn::FirstN(d, size_t(n - i));
  const auto v = load_first(mask, d, pairs + i);
  hn::BlendedStore(lower(v), mask, d, first + i);
  hn::BlendedStore(upper(v), mask, d, second + i);
}

template <class P, int kRows>
GemmKernels<float> pair_table() {
  return {kRows,
          2 * kLanes,
          0,
          kDotRows,
          &any_tile<P, float, kRows, false>,
          &any_tile<P, float, GemmKernels<float>::kFewRows, true>,
          nullptr,
          nullptr,
          &dot<P, float>,
          nullptr,
          nullptr};
}

GemmKernels<float> split_table() {
  return pair_table<SplitProducts, std::min(4, kMaxRows)>();
}

GemmKernels<float> native_table() {
#if HWY_TARGET == HWY_AVX3
  return pair_table<PairProducts, kMaxRows>();
#else
  return split_table();
#endif
}

PairMakers makers() {
  return {&pair, &pair_floats, &round, &split};
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(split_table);
HWY_EXPORT(native_table);
HWY_EXPORT(makers);

bool has_pair_products() {
  return simd_has_bf16_products();
}

const GemmKernels<float>& pair_kernels() {
  static const GemmKernels<float> table = [] {
    GemmKernels<float> kernels = has_pair_products()
                                     ? HWY_DYNAMIC_DISPATCH(native_table)()
                                     : HWY_DYNAMIC_DISPATCH(split_table)();
    // Words are moved, whatever they mean, and C is of floats anyway.
    kernels.pack = gemm_kernels<float>().pack;
    kernels.finish = gemm_kernels<float>().finish;
    return kernels;
  }();
  return table;
}

const PairMakers& pair_makers() {
  static const PairMakers table = HWY_DYNAMIC_DISPATCH(makers)();
  return table;
}

}  // namespace hotaru
#endif
