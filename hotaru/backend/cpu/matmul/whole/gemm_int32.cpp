// Kernels of products of integers of 32 bits.
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/whole/gemm_int32.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/matmul/whole/gemm_integers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

GemmKernels<uint32_t> kernels_uint32() {
  return integer_kernels<uint32_t>();
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(kernels_uint32);
template <>
const GemmKernels<uint32_t>& gemm_kernels() {
  static const GemmKernels<uint32_t> table =
      HWY_DYNAMIC_DISPATCH(kernels_uint32)();
  return table;
}

}  // namespace hotaru
#endif
