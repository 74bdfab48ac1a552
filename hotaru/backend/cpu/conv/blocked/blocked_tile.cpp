// The tiles of convolutions on blocked pictures of floats.
#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv/blocked/blocked_tile.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/conv/blocked/blocked_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

BlockedConvKernels float_tiles() {
  return tile_kernels<FloatProducts>();
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(float_tiles);

const BlockedConvKernels& blocked_conv_kernels() {
  static const BlockedConvKernels table = HWY_DYNAMIC_DISPATCH(float_tiles)();
  return table;
}

}  // namespace hotaru::cpu
#endif
