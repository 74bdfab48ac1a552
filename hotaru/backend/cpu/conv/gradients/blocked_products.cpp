// Products of blocked pictures, pixel by pixel: gradients of weights.
#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"
#include "hotaru/backend/cpu/conv/gradients/blocked_gradients.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/conv/gradients/blocked_products.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/conv/blocked/block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums stay in registers: channels times vectors of the output blocks, beside
// those vectors of a pixel.
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM
constexpr int kChannels[2] = {16 * kLanes / kBlock, 8 * kLanes / kBlock};
#else
constexpr int kChannels[2] = {kLanes < 4 ? 1 : kLanes / 2,
                              kLanes < 8 ? 1 : kLanes / 4};
#endif

static_assert(kBlock % kChannels[0] == 0 && kBlock % kChannels[1] == 0);

template <int kBlocks>
void add_products(const BlockedProducts& given) {
  constexpr int kCount = kChannels[kBlocks - 1];
  constexpr int kVectors = kBlocks * kBlock / kLanes;
  const D d;
  const BlockedProducts p = given;
  V sum[kCount][kVectors];
  HWY_UNROLL(16)
  for (int c = 0; c < kCount; ++c) HWY_UNROLL(16)
  for (int v = 0; v < kVectors; ++v)
    sum[c][v] = hn::LoadU(d, p.sums + c * kBlocks * kBlock + v * kLanes);
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* HWY_RESTRICT dy = p.dy + r * p.dy_row;
    const float* HWY_RESTRICT x = p.x + r * p.x_row;
    for (int64_t i = 0; i < p.columns; ++i, dy += kBlock, x += p.x_pixel) {
      V to[kVectors];
      HWY_UNROLL(16)
      for (int v = 0; v < kVectors; ++v)
        to[v] = hn::LoadU(
            d, dy + v * kLanes / kBlock * p.dy_block + v * kLanes % kBlock);
      HWY_UNROLL(16)
      for (int c = 0; c < kCount; ++c) {
        const V one = hn::Set(d, x[c]);
        HWY_UNROLL(16)
        for (int v = 0; v < kVectors; ++v)
          sum[c][v] = hn::MulAdd(one, to[v], sum[c][v]);
      }
    }
  }
  HWY_UNROLL(16)
  for (int c = 0; c < kCount; ++c) HWY_UNROLL(16)
  for (int v = 0; v < kVectors; ++v)
    hn::StoreU(sum[c][v], d, p.sums + c * kBlocks * kBlock + v * kLanes);
}

BlockedProductKernels product_kernels() {
  return {{kChannels[0], kChannels[1]}, {&add_products<1>, &add_products<2>}};
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(product_kernels);

const BlockedProductKernels& blocked_product_kernels() {
  static const BlockedProductKernels table =
      HWY_DYNAMIC_DISPATCH(product_kernels)();
  return table;
}

}  // namespace hotaru::cpu
#endif
