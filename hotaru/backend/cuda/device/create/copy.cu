// Copies with conversion between all dtypes, and moves of
// elements of any dtype. See params/create.h for how they are launched.
#include "hotaru/backend/common/create/convert.h"
#include "hotaru/backend/cuda/device/elements.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/device/words.h"
#include "hotaru/backend/cuda/params/create.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class To, class From>
HOTARU_DEVICE Stored<To> converted(Stored<From> x) {
  return narrow<To>(formulas::convert<OpMath<To>>(widen<From>(x)));
}

template <class To, class From>
HOTARU_DEVICE void copy(const CopyParams& p) {
  constexpr uint32_t kLength = copy_length(sizeof(To), sizeof(From));
  constexpr uint32_t kItems = copy_items(sizeof(To), sizeof(From));
  using In = Vector<From, kLength>;
  using Out = Vector<To, kLength>;
  const uint32_t first = blockIdx.x * kItems;
  if (p.numel - first < kItems) {
    HOTARU_NO_UNROLL
    for (uint32_t i = first + threadIdx.x; i < p.numel; i += kBlock)
      static_cast<Stored<To>*>(p.out)[i] =
          converted<To, From>(static_cast<const Stored<From>*>(p.in)[i]);
    return;
  }
  const uint32_t at = first / kLength + threadIdx.x;
  In in[kCopyVectors];
  HOTARU_UNROLL
  for (uint32_t v = 0; v < kCopyVectors; ++v)
    in[v] = static_cast<const In*>(p.in)[at + v * kBlock];
  HOTARU_UNROLL
  for (uint32_t v = 0; v < kCopyVectors; ++v) {
    Out out;
    HOTARU_UNROLL
    for (uint32_t j = 0; j + 1 < kLength; j += 2)
      narrow_pair<To>(
          out, j, formulas::convert<OpMath<To>>(widen<From>(in[v].at[j])),
          formulas::convert<OpMath<To>>(widen<From>(in[v].at[j + 1])));
    if constexpr (kLength == 1) out.at[0] = converted<To, From>(in[v].at[0]);
    static_cast<Out*>(p.out)[at + v * kBlock] = out;
  }
}

/// Loads all elements of a thread and then stores them.
template <class To, class From, class F>
HOTARU_DEVICE void strided(const StridedCopyParams& p, const F& f) {
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  int64_t at[kStridedEach][2];
  find_elements(p.index, first, p.copy.numel, at);
  From x[kStridedEach];
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n)
    x[n] = *reinterpret_cast<const From*>(static_cast<const char*>(p.copy.in) +
                                          at[n][1]);
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n)
    if (first + n * kBlock < p.copy.numel)
      *reinterpret_cast<To*>(static_cast<char*>(p.copy.out) + at[n][0]) =
          f(x[n]);
}

template <class To, class From>
HOTARU_DEVICE void copy_strided(const StridedCopyParams& p) {
  strided<Stored<To>, Stored<From>>(
      p, [](Stored<From> x) { return converted<To, From>(x); });
}

template <class Word>
HOTARU_DEVICE void move_strided(const StridedCopyParams& p) {
  strided<Word, Word>(p, [](const Word& x) { return x; });
}

}  // namespace

#define HOTARU_COPY(To, to, From, from) \
  HOTARU_CUDA_KERNEL(Copy_##to##_##from, CopyParams, copy<To, From>) \
  HOTARU_CUDA_KERNEL(Copy_##to##_##from##_s, StridedCopyParams, \
                     copy_strided<To, From>)
// The twelve dtypes, from each of the twelve; bytes of a copied bool are 0 and
// 1, others of one dtype are moved.
#define HOTARU_COPY_FLOATS(To, to) \
  HOTARU_COPY(To, to, float, f32) \
  HOTARU_COPY(To, to, double, f64) \
  HOTARU_COPY(To, to, Half, f16) \
  HOTARU_COPY(To, to, BFloat16, bf16)
#define HOTARU_COPY_INTEGERS(To, to) \
  HOTARU_COPY(To, to, uint8_t, u8) \
  HOTARU_COPY(To, to, int8_t, i8) \
  HOTARU_COPY(To, to, int16_t, i16) \
  HOTARU_COPY(To, to, int32_t, i32) \
  HOTARU_COPY(To, to, int64_t, i64) \
  HOTARU_COPY(To, to, Bool, b8)
#define HOTARU_COPY_COMPLEX(To, to) \
  HOTARU_COPY(To, to, std::complex<float>, c64) \
  HOTARU_COPY(To, to, std::complex<double>, c128)
#define HOTARU_COPY_ALL(unused, To, to) \
  HOTARU_COPY_FLOATS(To, to) \
  HOTARU_COPY_COMPLEX(To, to) \
  HOTARU_COPY_INTEGERS(To, to)
HOTARU_DEVICE_TYPES_AllTypes(HOTARU_COPY_ALL, )

    HOTARU_CUDA_KERNEL(Move_1_s, StridedCopyParams, move_strided<uint8_t>)
        HOTARU_CUDA_KERNEL(Move_2_s, StridedCopyParams, move_strided<uint16_t>)
            HOTARU_CUDA_KERNEL(Move_4_s, StridedCopyParams,
                               move_strided<uint32_t>)
                HOTARU_CUDA_KERNEL(Move_8_s, StridedCopyParams,
                                   move_strided<uint64_t>)
                    HOTARU_CUDA_KERNEL(Move_16_s, StridedCopyParams,
                                       move_strided<Word16>)

}  // namespace hotaru::cuda
