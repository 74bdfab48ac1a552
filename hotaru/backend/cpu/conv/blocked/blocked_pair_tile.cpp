// Tiles of pictures of bfloat16.
#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HOTARU_SIMD_ONLY  // chooses between two itself
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/conv/blocked/blocked_pair_tile.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/conv/blocked/blocked_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

BlockedConvKernels pair_tiles() {
  return tile_kernels<Bf16Products>();
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(pair_tiles);

const BlockedConvKernels& pair_conv_kernels() {
  static const BlockedConvKernels table = [] {
#if HWY_TARGETS & HWY_AVX3
    // AVX-512 without AVX512-BF16 does as AVX2 does.
    if (!simd_has_bf16_products() && (hwy::SupportedTargets() & HWY_AVX2))
      return N_AVX2::pair_tiles();
#endif
    return HWY_DYNAMIC_DISPATCH(pair_tiles)();
  }();
  return table;
}

}  // namespace hotaru::cpu
#endif
