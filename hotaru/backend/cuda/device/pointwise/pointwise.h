// Elementwise kernels from the formulas that the CPU has, too. See
// params/pointwise.h for how they are launched.
#pragma once

#include "hotaru/backend/common/pointwise/formulas.h"
#include "hotaru/backend/cuda/device/elements.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/pointwise.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {

/// How the elements of a thread are walked through.
enum class Walk {
  /// By vectors: all inputs are read before the first result is computed.
  kVectors,
  /// One after the other: the formula is there once, and is long enough to
  /// hide what it waits for behind other threads.
  kSingle,
};
template <class F>
inline constexpr Walk kWalk = Walk::kVectors;
template <class T>
inline constexpr Walk kWalk<formulas::Pow<T>> = Walk::kSingle;
template <class T>
inline constexpr Walk kWalk<formulas::Gcd<T>> = Walk::kSingle;
template <class T>
inline constexpr Walk kWalk<formulas::Lgamma<T>> = Walk::kSingle;
template <class T>
inline constexpr Walk kWalk<formulas::Digamma<T>> = Walk::kSingle;
template <class T>
inline constexpr Walk kWalk<formulas::Trigamma<T>> = Walk::kSingle;

/// Type of a formula's results for elements T, as it is stored.
template <class Result, class T>
using ResultOf = std::conditional_t<
    std::is_same_v<Result, OpMath<T>>, T,
    std::conditional_t<std::is_same_v<Result, bool>, Bool, Result>>;

/// A formula for kInputs inputs of type T.
template <template <class> class Formula, class T, int kInputs>
struct Pointwise {
  using M = OpMath<T>;
  using F = Formula<M>;

  HOTARU_DEVICE static auto apply(const F& f, const M* x) {
    if constexpr (kInputs == 1)
      return f(x[0]);
    else if constexpr (kInputs == 2)
      return f(x[0], x[1]);
    else
      return f(x[0], x[1], x[2]);
  }
  using Out = ResultOf<decltype(apply(std::declval<const F&>(), nullptr)), T>;

  HOTARU_DEVICE static F formula(const PointwiseParams& p) {
    if constexpr (std::is_empty_v<F>)
      return F{};
    else
      return *reinterpret_cast<const F*>(p.formula);
  }

  HOTARU_DEVICE static bool is_one(const PointwiseParams& p, int k) {
    return p.source[k] != Source::kElements;
  }
  /// Loads the inputs that are one for all elements.
  HOTARU_DEVICE static void load_ones(const PointwiseParams& p,
                                      M (&one)[kInputs]) {
    HOTARU_UNROLL
    for (int k = 0; k < kInputs; ++k) {
      one[k] = M{};
      if (p.source[k] == Source::kValue)
        one[k] = *reinterpret_cast<const M*>(p.value[k]);
      else if (p.source[k] == Source::kOne)
        one[k] = load<T>(p.in[k]);
      else if (kIsReduced<T> && p.source[k] == Source::kOneFloat)
        one[k] = M(load<float>(p.in[k]));
    }
  }

  /// Elements [first, end) by the threads of the block in turn.
  HOTARU_DEVICE static void one_by_one(const PointwiseParams& p, const F& f,
                                       const M (&one)[kInputs], uint32_t first,
                                       uint32_t end) {
    HOTARU_NO_UNROLL
    for (uint32_t i = first + threadIdx.x; i < end; i += kBlock) {
      M x[kInputs];
      HOTARU_UNROLL
      for (int k = 0; k < kInputs; ++k)
        x[k] = is_one(p, k)
                   ? one[k]
                   : widen<T>(static_cast<const Stored<T>*>(p.in[k])[i]);
      static_cast<Stored<Out>*>(p.out)[i] = narrow<Out>(apply(f, x));
    }
  }

  static constexpr uint32_t kLength = vector_length(sizeof(T));
  static constexpr uint32_t kVectors = vectors(kInputs);
  using In = Vector<T, kLength>;
  using OutVector = Vector<Out, kLength>;

  HOTARU_DEVICE static OutVector apply_vector(const PointwiseParams& p,
                                              const F& f,
                                              const M (&one)[kInputs],
                                              const In (&in)[kInputs]) {
    OutVector out;
    HOTARU_UNROLL
    for (uint32_t j = 0; j + 1 < kLength; j += 2) {
      M x[kInputs], y[kInputs];
      HOTARU_UNROLL
      for (int k = 0; k < kInputs; ++k) {
        const bool same = kInputs > 1 && is_one(p, k);
        x[k] = same ? one[k] : widen<T>(in[k].at[j]);
        y[k] = same ? one[k] : widen<T>(in[k].at[j + 1]);
      }
      narrow_pair<Out>(out, j, apply(f, x), apply(f, y));
    }
    if constexpr (kLength == 1) {
      M x[kInputs];
      HOTARU_UNROLL
      for (int k = 0; k < kInputs; ++k)
        x[k] = kInputs > 1 && is_one(p, k) ? one[k] : widen<T>(in[k].at[0]);
      out.at[0] = narrow<Out>(apply(f, x));
    }
    return out;
  }

  HOTARU_DEVICE static void dense(const PointwiseParams& p) {
    constexpr uint32_t kItems = dense_items(sizeof(T), kInputs);
    const F f = formula(p);
    M one[kInputs];
    load_ones(p, one);
    const uint32_t first = blockIdx.x * kItems;
    const bool whole = p.numel - first >= kItems;
    if (kWalk<F> == Walk::kSingle || !whole)
      return one_by_one(p, f, one, first, whole ? first + kItems : p.numel);
    if constexpr (kWalk<F> == Walk::kVectors) {
      In in[kInputs][kVectors] = {};
      HOTARU_UNROLL
      for (int k = 0; k < kInputs; ++k)
        if (kInputs == 1 || !is_one(p, k)) {
          HOTARU_UNROLL
          for (uint32_t v = 0; v < kVectors; ++v)
            in[k][v] = static_cast<const In*>(
                p.in[k])[(first / kLength) + v * kBlock + threadIdx.x];
        }
      HOTARU_UNROLL
      for (uint32_t v = 0; v < kVectors; ++v) {
        In x[kInputs];
        HOTARU_UNROLL
        for (int k = 0; k < kInputs; ++k) x[k] = in[k][v];
        static_cast<OutVector*>(
            p.out)[(first / kLength) + v * kBlock + threadIdx.x] =
            apply_vector(p, f, one, x);
      }
    }
  }

  /// p.numel and the index count vectors.
  HOTARU_DEVICE static void rows(const StridedPointwiseParams& s) {
    const PointwiseParams& p = s.pointwise;
    const F f = formula(p);
    M one[kInputs];
    load_ones(p, one);
    const uint32_t first = blockIdx.x * row_items(kInputs) + threadIdx.x;
    int64_t at[kVectors][1 + PointwiseParams::kMaxInputs];
    find_elements(s.index, first, p.numel, at);
    In in[kVectors][kInputs] = {};
    HOTARU_UNROLL
    for (int k = 0; k < kInputs; ++k) {
      if (is_one(p, k)) continue;
      const bool one_a_row = s.index.strides[0][1 + k] == 0;
      HOTARU_UNROLL
      for (uint32_t v = 0; v < kVectors; ++v) {
        const char* from = static_cast<const char*>(p.in[k]) + at[v][1 + k];
        if (one_a_row) {
          const auto x = *reinterpret_cast<const Stored<T>*>(from);
          HOTARU_UNROLL
          for (uint32_t j = 0; j < kLength; ++j) in[v][k].at[j] = x;
        } else {
          in[v][k] = load_vector<In>(from);
        }
      }
    }
    HOTARU_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v)
      if (first + v * kBlock < p.numel)
        store_vector(static_cast<char*>(p.out) + at[v][0],
                     apply_vector(p, f, one, in[v]));
  }

  template <int kCount>
  HOTARU_DEVICE static void at(const StridedPointwiseParams& s, const F& f,
                               const M (&one)[kInputs], uint32_t first) {
    const PointwiseParams& p = s.pointwise;
    // Elements past the end are computed as the first one, and not stored.
    int64_t at[kCount][1 + PointwiseParams::kMaxInputs];
    find_elements(s.index, first, p.numel, at);
    M x[kCount][kInputs];
    HOTARU_UNROLL
    for (int n = 0; n < kCount; ++n) {
      HOTARU_UNROLL
      for (int k = 0; k < kInputs; ++k)
        x[n][k] =
            is_one(p, k)
                ? one[k]
                : load<T>(static_cast<const char*>(p.in[k]) + at[n][1 + k]);
    }
    HOTARU_UNROLL
    for (int n = 0; n < kCount; ++n)
      if (first + uint32_t(n) * kBlock < p.numel)
        store<Out>(static_cast<char*>(p.out) + at[n][0], apply(f, x[n]));
  }

  HOTARU_DEVICE static void strided(const StridedPointwiseParams& s) {
    const PointwiseParams& p = s.pointwise;
    const F f = formula(p);
    M one[kInputs];
    load_ones(p, one);
    const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
    if constexpr (kWalk<F> == Walk::kVectors) {
      at<kStridedEach>(s, f, one, first);
    } else {
      HOTARU_NO_UNROLL
      for (uint32_t n = 0; n < kStridedEach; ++n)
        at<1>(s, f, one, first + n * kBlock);
    }
  }
};

}  // namespace hotaru::cuda

/// For the lists of formulas.h: both kernels for each dtype.
#define HOTARU_POINTWISE(name, F, Types, inputs) \
  HOTARU_DEVICE_TYPES_##Types(HOTARU_POINTWISE_OF, F, inputs)
#define HOTARU_POINTWISE_OF(F, inputs, T, suffix) \
  HOTARU_CUDA_KERNEL( \
      F##_##suffix, ::hotaru::cuda::PointwiseParams, \
      ::hotaru::cuda::Pointwise<::hotaru::formulas::F, T, inputs>::dense) \
  HOTARU_POINTWISE_STRIDED(F, inputs, T, suffix)
#define HOTARU_POINTWISE_STRIDED(F, inputs, T, suffix) \
  HOTARU_CUDA_KERNEL( \
      F##_##suffix##_s, ::hotaru::cuda::StridedPointwiseParams, \
      ::hotaru::cuda::Pointwise<::hotaru::formulas::F, T, inputs>::strided)
/// Also that for dense rows.
#define HOTARU_POINTWISE_ROWS(name, F, Types, inputs) \
  HOTARU_POINTWISE(name, F, Types, inputs) \
  HOTARU_DEVICE_TYPES_##Types(HOTARU_POINTWISE_ROWS_OF, F, inputs)
#define HOTARU_POINTWISE_ROWS_OF(F, inputs, T, suffix) \
  HOTARU_CUDA_KERNEL( \
      F##_##suffix##_v, ::hotaru::cuda::StridedPointwiseParams, \
      ::hotaru::cuda::Pointwise<::hotaru::formulas::F, T, inputs>::rows)
