// Which of overlapping boxes stay, by words of bits. See params/vision.h
// for how the kernels are launched; formulas are in common/vision/overlap.h.
#include "hotaru/backend/common/vision/overlap.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/params/vision.h"

namespace hotaru::cuda {
namespace {

using Word = unsigned long long;

__device__ inline bool has(Word word, int64_t bit) {
  return word >> bit & 1;
}

__device__ inline int64_t bit_count(Word x) {
#ifdef __CUDA_ARCH__
  return __popcll(x);
#else
  return std::popcount(x);
#endif
}
/// Lowest bit of a word that is not 0.
__device__ inline int64_t lowest_bit(Word x) {
#ifdef __CUDA_ARCH__
  return __ffsll(int64_t(x)) - 1;
#else
  return std::countr_zero(x);
#endif
}

/// Boxes that have fallen before are not looked at, here nor later.
template <class T>
__device__ void nms_cover(const NmsParams& p) {
  __shared__ T memory[kNmsWord * sizeof(Box<T>) / sizeof(T)];
  auto* others = reinterpret_cast<Box<T>*>(memory);
  const auto* boxes = static_cast<const T*>(p.boxes);
  const int64_t column = int64_t{blockIdx.x} * kNmsWord;
  const int64_t row = int64_t{blockIdx.y} * kBlock + threadIdx.x;
  const int64_t here = p.first + row;
  const int64_t left = p.numel - column;
  const int64_t count = left < kNmsWord ? left : kNmsWord;
  if (int64_t{threadIdx.x} < count)
    others[threadIdx.x] = box_of(boxes + (column + threadIdx.x) * 4);
  __syncthreads();
  if (row >= p.rows || column + kNmsWord <= here) return;
  if (has(p.fallen[here / kNmsWord], here % kNmsWord)) return;
  const Box<T> own = box_of(boxes + here * 4);
  Word bits = 0;
  HOTARU_NO_UNROLL
  for (int64_t j = here < column ? 0 : here - column + 1; j < count; ++j)
    bits |= Word(covers(own, others[j], T(p.limit))) << j;
  p.covered[row * p.words + blockIdx.x] = bits;
}

/// Word by word: one thread goes through its boxes, then all of them mark what
/// those that stay cover behind it.
__device__ void nms_keep(const NmsParams& p) {
  __shared__ Word own[kNmsWord];
  __shared__ Word stays;
  int64_t count = p.first > 0 ? *p.count : 0;
  for (int64_t first = 0; first < p.rows; first += kNmsWord) {
    const int64_t w = (p.first + first) / kNmsWord;
    const int64_t left = p.rows - first;
    const int64_t rows = left < kNmsWord ? left : kNmsWord;
    const Word* covered = p.covered + first * p.words;
    // The barrier behind it also parts this word from the one before.
    if (int64_t{threadIdx.x} < rows)
      own[threadIdx.x] = covered[threadIdx.x * p.words + w];
    __syncthreads();
    if (threadIdx.x == 0) {
      Word fallen = p.fallen[w];
      stays = 0;
      for (int64_t i = 0; i < rows; ++i) {
        if (has(fallen, i)) continue;
        stays |= Word{1} << i;
        fallen |= own[i];
      }
    }
    __syncthreads();
    const Word those = stays;
    for (int64_t k = w + 1 + threadIdx.x; k < p.words; k += kBlock) {
      Word fallen = p.fallen[k];
      for (Word rest = those; rest; rest &= rest - 1)
        fallen |= covered[lowest_bit(rest) * p.words + k];
      p.fallen[k] = fallen;
    }
    if (threadIdx.x < kNmsWord && has(those, threadIdx.x)) {
      const Word before = those & ((Word{1} << threadIdx.x) - 1);
      p.kept[count + bit_count(before)] = w * kNmsWord + threadIdx.x;
    }
    count += bit_count(those);
  }
  if (threadIdx.x == 0) *p.count = count;
}

}  // namespace

#define HOTARU_NMS(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(NmsCover_##suffix, NmsParams, nms_cover<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_NMS, )
    HOTARU_CUDA_BLOCK_KERNEL(NmsKeep_8, NmsParams, nms_keep)

}  // namespace hotaru::cuda
