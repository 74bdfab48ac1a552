// Kernels of products of floats.
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/whole/gemm_float.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/matmul/whole/gemm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

GemmKernels<float> kernels_float() {
  return kernels<float>();
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(kernels_float);
template <>
const GemmKernels<float>& gemm_kernels() {
  static const GemmKernels<float> table = HWY_DYNAMIC_DISPATCH(kernels_float)();
  return table;
}

}  // namespace hotaru
#endif
