// Padding, and its transpose. See params/join.h for how they are launched.
#include "hotaru/backend/cuda/device/atomic.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/device/words.h"
#include "hotaru/backend/cuda/params/join.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// Where element i of an input's dimension comes from; -1: from nowhere.
HOTARU_DEVICE inline int64_t source(Outside outside, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (outside) {
    case Outside::kReflect:
      return i < 0 ? -i : 2 * (size - 1) - i;
    case Outside::kReplicate:
      return i < 0 ? 0 : size - 1;
    case Outside::kCircular:
      return i < 0 ? i + size : i - size;
    default:
      return -1;
  }
}

/// f(position, bytes in the input or -1) for the thread's elements.
template <class F>
__device__ inline void for_padded(const PadParams& p, const F& f) {
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  HOTARU_NO_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n) {
    const uint32_t position = first + n * kBlock;
    if (position >= p.numel) return;
    uint32_t rest = position;
    int64_t at = 0;
    HOTARU_NO_UNROLL
    for (int d = 0; d < p.dims && at >= 0; ++d) {
      const PadParams::Dim& dim = p.dim[d];
      const uint32_t above = dim.out.divide(rest);
      const auto i = int64_t(rest - above * dim.out.divisor) - dim.before;
      const int64_t from = source(p.outside, i, dim.in);
      at = from < 0 ? -1 : at + from * dim.step;
      rest = above;
    }
    f(position, at);
  }
}

template <class Word>
__device__ void pad(const PadParams& p) {
  for_padded(p, [&](uint32_t position, int64_t at) {
    static_cast<Word*>(p.out)[position] =
        at < 0 ? *reinterpret_cast<const Word*>(p.value)
               : *reinterpret_cast<const Word*>(static_cast<const char*>(p.in) +
                                                at);
  });
}

/// Adds kParts numbers of type T, each by itself: a complex one has two.
__device__ void pad_targets(const PadParams& p) {
  for_padded(p, [&](uint32_t position, int64_t at) {
    p.targets[position] = at < 0 ? kNoTarget : at;
  });
}

template <class T, uint32_t kParts>
__device__ void pad_transposed(const PadParams& p) {
  for_padded(p, [&](uint32_t position, int64_t at) {
    if (at < 0) return;
    const auto* from = static_cast<const Stored<T>*>(p.out) + position * kParts;
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kParts; ++i)
      AtomicAdd::at<T>(static_cast<char*>(p.in) + at + i * sizeof(T),
                       load<T>(from + i));
  });
}

}  // namespace

HOTARU_CUDA_KERNEL(Pad_1, PadParams, pad<uint8_t>)
HOTARU_CUDA_KERNEL(Pad_2, PadParams, pad<uint16_t>)
HOTARU_CUDA_KERNEL(Pad_4, PadParams, pad<uint32_t>)
HOTARU_CUDA_KERNEL(Pad_8, PadParams, pad<uint64_t>)
HOTARU_CUDA_KERNEL(Pad_16, PadParams, pad<Word16>)
HOTARU_CUDA_KERNEL(PadTargets, PadParams, pad_targets)

#define HOTARU_PAD_TRANSPOSED(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(PadTransposed_##suffix, PadParams, pad_transposed<T, 1>)
HOTARU_DEVICE_TYPES_RealTypes(HOTARU_PAD_TRANSPOSED, )
    HOTARU_CUDA_KERNEL(PadTransposed_c64, PadParams, pad_transposed<float, 2>)
        HOTARU_CUDA_KERNEL(PadTransposed_c128, PadParams,
                           pad_transposed<double, 2>)

}  // namespace hotaru::cuda
