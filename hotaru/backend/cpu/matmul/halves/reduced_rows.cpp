#include "hotaru/backend/cpu/matmul/halves/reduced_rows.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/halves/reduced_rows.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// Below simd.h, which chooses the target.
#include "hotaru/backend/cpu/simd/pairs-inl.h"

#ifndef HOTARU_REDUCED_TABLE
#define HOTARU_REDUCED_TABLE
namespace hotaru::cpu {
namespace {

template <class T>
struct ReducedKernels {
  using Fn = void (*)(int64_t m, int64_t n, int64_t k, const float* a,
                      int64_t lda, const T* b, int64_t ldb, float* c,
                      int64_t ldc);
  Fn rows, dots;
};

struct ReducedTable {
  ReducedKernels<BFloat16> bf16;
  ReducedKernels<Half> half;
};

}  // namespace
}  // namespace hotaru::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(D()));
// Vectors of columns at a time.
constexpr int kVectors = 4;

HWY_ATTR HWY_INLINE V widened(const BFloat16* at) {
  return hotaru::HWY_NAMESPACE::load_bf16(D(), at);
}

HWY_ATTR HWY_INLINE V widened(const Half* at) {
  return hotaru::HWY_NAMESPACE::load_half(D(), at);
}

/// kCount * kLanes columns.
template <int kRows, int kCount, class T>
HWY_ATTR void columns(int64_t k, const float* a, int64_t lda, const T* b,
                      int64_t ldb, float* c, int64_t ldc) {
  const D d;
  // Even and odd rows of B apart: additions to one sum wait for each other.
  V sums[2][kRows][kCount];
  HWY_UNROLL(2)
  for (int h = 0; h < 2; ++h) HWY_UNROLL(3)
  for (int i = 0; i < kRows; ++i) HWY_UNROLL(4)
  for (int v = 0; v < kCount; ++v) sums[h][i][v] = hn::Zero(d);
  int64_t p = 0;
  for (; p + 2 <= k; p += 2) {
    HWY_UNROLL(2)
    for (int h = 0; h < 2; ++h) {
      const T* row = b + (p + h) * ldb;
      HWY_UNROLL(4)
      for (int v = 0; v < kCount; ++v) {
        const V numbers = widened(row + v * kLanes);
        HWY_UNROLL(3)
        for (int i = 0; i < kRows; ++i)
          sums[h][i][v] = hn::MulAdd(hn::Set(d, a[i * lda + p + h]), numbers,
                                     sums[h][i][v]);
      }
    }
  }
  if (p < k)
    for (int v = 0; v < kCount; ++v)
      for (int i = 0; i < kRows; ++i)
        sums[0][i][v] =
            hn::MulAdd(hn::Set(d, a[i * lda + p]),
                       widened(b + p * ldb + v * kLanes), sums[0][i][v]);
  HWY_UNROLL(3)
  for (int i = 0; i < kRows; ++i) HWY_UNROLL(4)
  for (int v = 0; v < kCount; ++v)
    hn::StoreU(hn::Add(sums[0][i][v], sums[1][i][v]), d,
               c + i * ldc + v * kLanes);
}

template <int kRows, class T>
HWY_ATTR void rows(int64_t n, int64_t k, const float* a, int64_t lda,
                   const T* b, int64_t ldb, float* c, int64_t ldc) {
  int64_t j = 0;
  for (; j + kVectors * kLanes <= n; j += kVectors * kLanes)
    columns<kRows, kVectors>(k, a, lda, b + j, ldb, c + j, ldc);
  for (; j + 2 * kLanes <= n; j += 2 * kLanes)
    columns<kRows, 2>(k, a, lda, b + j, ldb, c + j, ldc);
  for (; j + kLanes <= n; j += kLanes)
    columns<kRows, 1>(k, a, lda, b + j, ldb, c + j, ldc);
  for (; j < n; ++j)
    for (int64_t i = 0; i < kRows; ++i) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += a[i * lda + p] * float(b[p * ldb + j]);
      c[i * ldc + j] = sum;
    }
}

template <class T>
HWY_ATTR void some_rows(int64_t m, int64_t n, int64_t k, const float* a,
                        int64_t lda, const T* b, int64_t ldb, float* c,
                        int64_t ldc) {
  const auto fn = m == 1 ? &rows<1, T> : m == 2 ? &rows<2, T> : &rows<3, T>;
  fn(n, k, a, lda, b, ldb, c, ldc);
}

// Bytes fetched ahead: the processor by itself keeps too few lines on their
// way.
constexpr int64_t kAhead = 4096;

/// A column at a time, as one stream of memory is faster than several.
template <int kRows, class T>
HWY_ATTR void dots(int64_t n, int64_t k, const float* a, int64_t lda,
                   const T* b, int64_t ldb, float* c, int64_t ldc) {
  const D d;
  constexpr int kSums = 4;
  for (int64_t j = 0; j < n; ++j, b += ldb) {
    V sums[kRows][kSums];
    HWY_UNROLL(3)
    for (int i = 0; i < kRows; ++i) HWY_UNROLL(4)
    for (int s = 0; s < kSums; ++s) sums[i][s] = hn::Zero(d);
    int64_t p = 0;
    for (; p + kSums * kLanes <= k; p += kSums * kLanes) {
      const char* ahead = reinterpret_cast<const char*>(b + p) + kAhead;
      __builtin_prefetch(ahead);
      if constexpr (kLanes == 16) __builtin_prefetch(ahead + 64);
      HWY_UNROLL(4)
      for (int s = 0; s < kSums; ++s) {
        const V numbers = widened(b + p + s * kLanes);
        HWY_UNROLL(3)
        for (int i = 0; i < kRows; ++i)
          sums[i][s] = hn::MulAdd(hn::LoadU(d, a + i * lda + p + s * kLanes),
                                  numbers, sums[i][s]);
      }
    }
    for (; p + kLanes <= k; p += kLanes)
      for (int i = 0; i < kRows; ++i)
        sums[i][0] = hn::MulAdd(hn::LoadU(d, a + i * lda + p), widened(b + p),
                                sums[i][0]);
    for (int i = 0; i < kRows; ++i) {
      const V sum = hn::Add(hn::Add(sums[i][0], sums[i][1]),
                            hn::Add(sums[i][2], sums[i][3]));
      float total = hn::GetLane(hn::SumOfLanes(d, sum));
      for (int64_t q = p; q < k; ++q) total += a[i * lda + q] * float(b[q]);
      c[i * ldc + j] = total;
    }
  }
}

template <class T>
HWY_ATTR void some_dots(int64_t m, int64_t n, int64_t k, const float* a,
                        int64_t lda, const T* b, int64_t ldb, float* c,
                        int64_t ldc) {
  const auto fn = m == 1 ? &dots<1, T> : m == 2 ? &dots<2, T> : &dots<3, T>;
  fn(n, k, a, lda, b, ldb, c, ldc);
}

ReducedTable table() {
  return {{&some_rows<BFloat16>, &some_dots<BFloat16>},
          {&some_rows<Half>, &some_dots<Half>}};
}

}  // namespace
}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(table);

namespace {

template <class T>
const ReducedKernels<T>& kernels() {
  static const ReducedTable all = HWY_DYNAMIC_DISPATCH(table)();
  if constexpr (std::is_same_v<T, Half>)
    return all.half;
  else
    return all.bf16;
}

}  // namespace

template <class T>
void reduced_rows(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                  const T* b, int64_t ldb, float* c, int64_t ldc) {
  kernels<T>().rows(m, n, k, a, lda, b, ldb, c, ldc);
}

template <class T>
void reduced_dots(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                  const T* b, int64_t ldb, float* c, int64_t ldc) {
  kernels<T>().dots(m, n, k, a, lda, b, ldb, c, ldc);
}

#define HOTARU_INSTANTIATE(T) \
  template void reduced_rows(int64_t, int64_t, int64_t, const float*, int64_t, \
                             const T*, int64_t, float*, int64_t); \
  template void reduced_dots(int64_t, int64_t, int64_t, const float*, int64_t, \
                             const T*, int64_t, float*, int64_t);
HOTARU_INSTANTIATE(BFloat16)
HOTARU_INSTANTIATE(Half)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
#endif
