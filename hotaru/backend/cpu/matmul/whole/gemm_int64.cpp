// Kernels of products of integers of 64 bits.
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/whole/gemm_int64.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/matmul/whole/gemm_integers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

GemmKernels<uint64_t> kernels_uint64() {
  return integer_kernels<uint64_t>();
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(kernels_uint64);
template <>
const GemmKernels<uint64_t>& gemm_kernels() {
  static const GemmKernels<uint64_t> table =
      HWY_DYNAMIC_DISPATCH(kernels_uint64)();
  return table;
}

}  // namespace hotaru
#endif
