// Kernels of products of integers, which wrap.
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/whole/gemm_integers.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/matmul/whole/gemm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

/// Bias alone: integers know no activations.
template <class T>
void finish_integers(T* c, int64_t ldc, int64_t rows, int64_t cols,
                     const Epilogue<T>& e) {
  if (!e.bias) return;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      c[i * ldc + j] += e.bias[e.bias_per_row ? i : j];
}

// Fewer than of floats: each height of tiles is 20 KB of code for each type.
constexpr int kIntegerRows = kMaxRows < 6 ? kMaxRows : 6;

template <class T>
GemmKernels<T> integer_kernels() {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  using P = IntegerProducts;
  return {kIntegerRows,
          2 * kLanes,
          0,
          kDotRows,
          &any_tile<P, T, kIntegerRows, false>,
          &any_tile<P, T, GemmKernels<T>::kFewRows, true>,
          nullptr,
          nullptr,
          &dot<P, T>,
          &pack<T>,
          &finish_integers<T>};
}

GemmKernels<uint32_t> kernels_uint32() {
  return integer_kernels<uint32_t>();
}
GemmKernels<uint64_t> kernels_uint64() {
  return integer_kernels<uint64_t>();
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

HWY_EXPORT(kernels_uint64);
template <>
const GemmKernels<uint64_t>& gemm_kernels() {
  static const GemmKernels<uint64_t> table =
      HWY_DYNAMIC_DISPATCH(kernels_uint64)();
  return table;
}

}  // namespace hotaru
#endif
