// Kernels of products of doubles.
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/whole/gemm_double.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/matmul/whole/gemm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

GemmKernels<double> kernels_double() {
  return kernels<double>();
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(kernels_double);
template <>
const GemmKernels<double>& gemm_kernels() {
  static const GemmKernels<double> table =
      HWY_DYNAMIC_DISPATCH(kernels_double)();
  return table;
}

}  // namespace hotaru
#endif
