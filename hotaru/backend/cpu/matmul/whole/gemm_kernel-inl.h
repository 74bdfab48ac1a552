// Kernels of matrix products for one type of element: packing, tiles, and what
// ends them. For inclusion after simd.h in files that use its pattern.

// clang-format off
#if defined(HOTARU_GEMM_KERNEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_GEMM_KERNEL_INL_H
#undef HOTARU_GEMM_KERNEL_INL_H
#else
#define HOTARU_GEMM_KERNEL_INL_H
#endif
// clang-format on

#include <hwy/cache_control.h>

#include <algorithm>
#include <type_traits>

#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/matmul/tile-inl.h"
#include "hotaru/backend/cpu/simd/simd_load-inl.h"
#include "hotaru/backend/cpu/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Columns of a block that is transposed at a time.
template <class T>
constexpr int64_t kBlockCols =
    HWY_TARGET == HWY_SCALAR || sizeof(T) != 4
        ? 4
        : int64_t(hn::MaxLanes(hn::ScalableTag<T>()));

#if HWY_TARGET != HWY_SCALAR
/// Stores each 128 bits of v, `step` elements apart.
template <class D>
HWY_INLINE void store_parts(D d, hn::Vec<D> v, hn::TFromD<D>* to,
                            int64_t step) {
  constexpr size_t kLanes = hn::MaxLanes(D());
  if constexpr (kLanes <= 4) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    store_parts(half, hn::LowerHalf(half, v), to, step);
    store_parts(half, hn::UpperHalf(half, v), to + int64_t{kLanes / 8} * step,
                step);
  }
}

/// In each 128 bits of the rows four columns lie, transposed on their own.
template <class T>
HWY_INLINE void transpose_words(const T* HWY_RESTRICT from, int64_t stride,
                                T* HWY_RESTRICT to, int64_t to_stride) {
  const hn::ScalableTag<T> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride),
             r2 = hn::LoadU(d, from + 2 * stride),
             r3 = hn::LoadU(d, from + 3 * stride);
  const auto a = hn::BitCast(wide, hn::InterleaveLower(d, r0, r1));
  const auto b = hn::BitCast(wide, hn::InterleaveLower(d, r2, r3));
  const auto e = hn::BitCast(wide, hn::InterleaveUpper(d, r0, r1));
  const auto f = hn::BitCast(wide, hn::InterleaveUpper(d, r2, r3));
  const auto store = [&](auto v, int64_t column) HOTARU_SIMD_LAMBDA {
    store_parts(d, hn::BitCast(d, v), to + column * to_stride, 4 * to_stride);
  };
  store(hn::InterleaveLower(wide, a, b), 0);
  store(hn::InterleaveUpper(wide, a, b), 1);
  store(hn::InterleaveLower(wide, e, f), 2);
  store(hn::InterleaveUpper(wide, e, f), 3);
}
#endif

/// Stores four rows transposed: element (i, j) to to[j * to_stride + i].
template <class T>
HWY_INLINE void transpose_block(const T* HWY_RESTRICT from, int64_t stride,
                                T* HWY_RESTRICT to, int64_t to_stride) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4)
    return transpose_words(from, stride, to, to_stride);
#endif
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < kBlockCols<T>; ++j)
      to[j * to_stride + i] = from[i * stride + j];
}

template <class T>
HWY_INLINE void copy_row(const T* from, int64_t n, T* to) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = int64_t(hn::MaxLanes(d));
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  for (; i < n; ++i) to[i] = from[i];
}

template <class T>
void pack(T* to, int64_t rows, int64_t cols, MatrixRef<T> from) {
  const int64_t rs = from.row_stride, cs = from.col_stride;
  if (rs == 1) {
    for (int64_t j = 0; j < cols; ++j)
      copy_row(from.data + j * cs, rows, to + j * rows);
    return;
  }
  int64_t j = 0;
  if (cs == 1 && rows >= 4) {
    for (; j + kBlockCols<T> <= cols; j += kBlockCols<T>)
      for (int64_t i = 0; i < rows; i += 4) {
        const int64_t row = std::min(i, rows - 4);  // the last ones twice
        for (int64_t r = row; r < row + 4; ++r)
          hwy::Prefetch(from.data + r * rs + j + 128);
        transpose_block(from.data + row * rs + j, rs, to + j * rows + row,
                        rows);
      }
  }
  for (; j < cols; ++j)
    for (int64_t i = 0; i < rows; ++i)
      to[j * rows + i] = from.data[i * rs + j * cs];
}

/// f(d, x) of each element x after bias, scale and residual.
template <class T, class F>
HWY_INLINE void for_each_vector(T* c, int64_t ldc, int64_t rows, int64_t cols,
                                const Epilogue<T>& e, const F& f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const bool load_bias = e.bias && !e.bias_per_row;
  // The most frequent case, column by column: everything stays in registers.
  constexpr bool kOften = std::is_same_v<T, float> && HWY_TARGET == HWY_AVX3;
  if (kOften && !e.scale && !e.residual && !e.bias_per_row &&
      cols % lanes == 0) {
    for (int64_t j = 0; j < cols; j += lanes) {
      const auto bias = load_bias ? hn::LoadU(d, e.bias + j) : hn::Zero(d);
      T* HWY_RESTRICT at = c + j;
      for (int64_t i = 0; i < rows; ++i, at += ldc)
        hn::StoreU(f(d, hn::Add(hn::LoadU(d, at), bias)), d, at);
    }
    return;
  }
  const T* residual = e.residual;
  const int64_t ldr = residual ? e.residual_stride : 0;
  for (int64_t i = 0; i < rows; ++i, c += ldc, residual += ldr) {
    auto bias = hn::Set(d, e.bias && e.bias_per_row ? e.bias[i] : T(0));
    const auto scale = hn::Set(d, e.scale ? e.scale[i] : T(1));
    const auto shift = hn::Set(d, e.scale ? e.shift[i] : T(0));
    const auto finished = [&](auto v, auto more) HOTARU_SIMD_LAMBDA {
      v = hn::Add(v, bias);
      if (e.scale) v = hn::MulAdd(v, scale, shift);
      return f(d, residual ? hn::Add(v, more) : v);
    };
    const auto none = hn::Zero(d);
    int64_t j = 0;
    for (; j + lanes <= cols; j += lanes) {
      if (load_bias) bias = hn::LoadU(d, e.bias + j);
      const auto more = residual ? hn::LoadU(d, residual + j) : none;
      hn::StoreU(finished(hn::LoadU(d, c + j), more), d, c + j);
    }
    if (j < cols) {
      const auto mask = hn::FirstN(d, size_t(cols - j));
      if (load_bias) bias = load_first(mask, d, e.bias + j);
      const auto more = residual ? load_first(mask, d, residual + j) : none;
      const auto v = finished(load_first(mask, d, c + j), more);
      hn::BlendedStore(v, mask, d, c + j);
    }
  }
}

template <class T>
void finish(T* c, int64_t ldc, int64_t rows, int64_t cols,
            const Epilogue<T>& e) {
  const auto run = [&](const auto& f) HOTARU_SIMD_LAMBDA {
    for_each_vector(c, ldc, rows, cols, e, f);
  };
  switch (e.activation) {
    case Activation::kNone:
      return run([](auto, auto v) HOTARU_SIMD_LAMBDA { return v; });
    case Activation::kRelu:
      // NaN stays NaN, as in PyTorch.
      return run([](auto d, auto v) HOTARU_SIMD_LAMBDA {
        return hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);
      });
    case Activation::kSigmoid:
      return run([](auto d, auto v)
                     HOTARU_SIMD_LAMBDA { return simd_sigmoid(d, v); });
    case Activation::kTanh:
      return run([](auto d, auto v)
                     HOTARU_SIMD_LAMBDA { return simd_tanh(d, v); });
    case Activation::kSilu:
      return run([](auto d, auto v) HOTARU_SIMD_LAMBDA {
        return hn::Mul(v, simd_sigmoid(d, v));
      });
    case Activation::kGelu:
      return run([](auto d, auto v) HOTARU_SIMD_LAMBDA {
        return hn::Mul(v, simd_normal_cdf(d, v));
      });
    case Activation::kGeluTanh:
      return run([](auto d, auto v)
                     HOTARU_SIMD_LAMBDA { return simd_gelu_tanh(d, v); });
  }
}

template <class T>
GemmKernels<T> kernels() {
  static_assert(2 * hn::MaxLanes(hn::ScalableTag<T>()) * sizeof(T) <=
                kPanelBytes);
  constexpr int kLanes = int(hn::MaxLanes(hn::ScalableTag<T>()));
  using P = WholeProducts;
  return {kMaxRows,
          2 * kLanes,
          kWideVectors * kLanes,
          kDotRows,
          &any_tile<P, T, kMaxRows, false>,
          &any_tile<P, T, GemmKernels<T>::kFewRows, true>,
          &offset_tile<P, T>,
          &wide_tile<P, T>,
          &dot<P, T>,
          &pack<T>,
          &finish<T>};
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
