#include "hotaru/backend/cpu/attention/exp_rows.h"

#include <algorithm>

#include "hotaru/backend/cpu/matmul/pair_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/attention/exp_rows.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/activation/softmax-inl.h"
#include "hotaru/backend/cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

using hotaru::HWY_NAMESPACE::SplitProducts;
#if HWY_TARGET == HWY_AVX3
using hotaru::HWY_NAMESPACE::PairProducts;
#endif
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

template <class P, class Count>
HWY_INLINE void put(V v, float* y, Count count) {
  store(v, D(), y, count);
}

/// Products of P store a vector as bfloat16.
template <class P>
HWY_INLINE void put(V v, BFloat16* y, Whole) {
  hotaru::HWY_NAMESPACE::store_rounded<P>(v, y);
}
template <class P>
HWY_INLINE void put(V v, BFloat16* y, int64_t count) {
  hotaru::HWY_NAMESPACE::store_rounded<P>(v, y, size_t(count));
}

template <class P, int kRows, class T>
HWY_ATTR void exp_some(const float* x, int64_t step, T* y, int64_t stride,
                       int64_t n, float* factors) {
  exp_group<kRows, std::is_same_v<T, BFloat16>>(
      x, step, n, factors, [&](int r, int64_t i, auto count, V e) HWY_ATTR {
        put<P>(e, y + r * stride + i, count);
      });
}

template <class P, class T>
HWY_ATTR void exp_all(const float* x, int64_t step, T* y, int64_t stride,
                      int64_t rows, int64_t n, float* factors) {
  // Four longer rows do not fit in the first-level cache.
  const int64_t together = n <= 2048 ? rows / 4 * 4 : 0;
  for (int64_t r = 0; r < together; r += 4)
    exp_some<P, 4>(x + r * step, step, y + r * stride, stride, n, factors + r);
  for (int64_t r = together; r < rows; ++r)
    exp_some<P, 1>(x + r * step, step, y + r * stride, stride, n, factors + r);
}

HWY_ATTR void exp_floats(float* x, int64_t stride, int64_t rows, int64_t n,
                         float* factors) {
  exp_all<SplitProducts>(x, stride, x, stride, rows, n, factors);
}

HWY_ATTR void exp_bf16(const float* x, int64_t step, BFloat16* y,
                       int64_t stride, int64_t rows, int64_t n, float* factors,
                       [[maybe_unused]] bool native) {
#if HWY_TARGET == HWY_AVX3
  if (native)
    exp_all<PairProducts>(x, step, y, stride, rows, n, factors);
  else
#endif
    exp_all<SplitProducts>(x, step, y, stride, rows, n, factors);
  for (int64_t r = 0; r < rows && stride > n; ++r)
    std::fill(y + r * stride + n, y + (r + 1) * stride, BFloat16(0.0f));
}

HWY_ATTR void scale(float* x, int64_t stride, int64_t rows, int64_t n,
                    const float* factors) {
  const D d;
  for (int64_t r = 0; r < rows; ++r) {
    const V factor = hn::Set(d, factors[r]);
    for_vectors<float>(n, [&](int64_t i, auto count) HWY_ATTR {
      float* at = x + r * stride + i;
      store(hn::Mul(load(d, at, count), factor), d, at, count);
    });
  }
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(exp_floats);
HWY_EXPORT(exp_bf16);
HWY_EXPORT(scale);

void exp_rows(float* x, int64_t stride, int64_t rows, int64_t n,
              float* factors) {
  HWY_DYNAMIC_DISPATCH(exp_floats)(x, stride, rows, n, factors);
}

void exp_rows(const float* x, int64_t step, BFloat16* y, int64_t stride,
              int64_t rows, int64_t n, float* factors) {
  HWY_DYNAMIC_DISPATCH(exp_bf16)
  (x, step, y, stride, rows, n, factors, has_pair_products());
}

void scale_rows(float* x, int64_t stride, int64_t rows, int64_t n,
                const float* factors) {
  HWY_DYNAMIC_DISPATCH(scale)(x, stride, rows, n, factors);
}

}  // namespace hotaru::cpu
#endif
