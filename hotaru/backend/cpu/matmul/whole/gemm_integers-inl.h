// Kernels of products of integers, which wrap. For inclusion after simd.h in
// files that use its pattern.

// clang-format off
#if defined(HOTARU_GEMM_INTEGERS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_GEMM_INTEGERS_INL_H
#undef HOTARU_GEMM_INTEGERS_INL_H
#else
#define HOTARU_GEMM_INTEGERS_INL_H
#endif
// clang-format on

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
  constexpr int kLanes = int(hn::MaxLanes(hn::ScalableTag<T>()));
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

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
