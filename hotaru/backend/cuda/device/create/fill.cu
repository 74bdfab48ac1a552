// Filling with a value, and selection by a mask: kernels that know no more of
// an element than its size. See params/create.h for how they are launched.
#include "hotaru/backend/cuda/device/elements.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/device/words.h"
#include "hotaru/backend/cuda/params/create.h"

namespace hotaru::cuda {
namespace {

template <class Word>
HOTARU_DEVICE void fill(const FillParams& p) {
  constexpr uint32_t kLength = word_length(sizeof(Word));
  constexpr uint32_t kItems = word_items(sizeof(Word));
  const Word value = *reinterpret_cast<const Word*>(p.value);
  const uint32_t first = blockIdx.x * kItems;
  if (p.numel - first < kItems) {
    HOTARU_NO_UNROLL
    for (uint32_t i = first + threadIdx.x; i < p.numel; i += kBlock)
      static_cast<Word*>(p.out)[i] = value;
    return;
  }
  Words<Word, kLength> row;
  HOTARU_UNROLL
  for (uint32_t j = 0; j < kLength; ++j) row.at[j] = value;
  HOTARU_UNROLL
  for (uint32_t v = 0; v < kWordVectors; ++v)
    static_cast<Words<Word, kLength>*>(
        p.out)[first / kLength + v * kBlock + threadIdx.x] = row;
}

template <class Word>
HOTARU_DEVICE void fill_strided(const StridedFillParams& p) {
  const Word value = *reinterpret_cast<const Word*>(p.fill.value);
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  for_elements<kStridedEach>(
      p.index, first, p.fill.numel, [&](uint32_t, const int64_t* at) {
        *reinterpret_cast<Word*>(static_cast<char*>(p.fill.out) + at[0]) =
            value;
      });
}

template <class Word>
HOTARU_DEVICE Word value_or(const void* elements, const std::byte* value) {
  return elements ? Word{} : *reinterpret_cast<const Word*>(value);
}

template <class Word>
HOTARU_DEVICE void where(const WhereParams& p) {
  constexpr uint32_t kLength = word_length(sizeof(Word));
  constexpr uint32_t kItems = word_items(sizeof(Word));
  using Row = Words<Word, kLength>;
  const Word one_x = value_or<Word>(p.x, p.x_value);
  const Word one_y = value_or<Word>(p.y, p.y_value);
  const uint32_t first = blockIdx.x * kItems;
  if (p.numel - first < kItems) {
    HOTARU_NO_UNROLL
    for (uint32_t i = first + threadIdx.x; i < p.numel; i += kBlock) {
      const Word x = p.x ? static_cast<const Word*>(p.x)[i] : one_x;
      const Word y = p.y ? static_cast<const Word*>(p.y)[i] : one_y;
      static_cast<Word*>(p.out)[i] =
          static_cast<const uint8_t*>(p.mask)[i] ? x : y;
    }
    return;
  }
  const uint32_t at = first / kLength + threadIdx.x;
  Words<uint8_t, kLength> mask[kWordVectors];
  Row x[kWordVectors], y[kWordVectors];
  HOTARU_UNROLL
  for (uint32_t v = 0; v < kWordVectors; ++v) {
    mask[v] =
        static_cast<const Words<uint8_t, kLength>*>(p.mask)[at + v * kBlock];
    if (p.x) {
      x[v] = static_cast<const Row*>(p.x)[at + v * kBlock];
    } else {
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kLength; ++j) x[v].at[j] = one_x;
    }
    if (p.y) {
      y[v] = static_cast<const Row*>(p.y)[at + v * kBlock];
    } else {
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kLength; ++j) y[v].at[j] = one_y;
    }
  }
  HOTARU_UNROLL
  for (uint32_t v = 0; v < kWordVectors; ++v) {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kLength; ++j)
      if (!mask[v].at[j]) x[v].at[j] = y[v].at[j];
    static_cast<Row*>(p.out)[at + v * kBlock] = x[v];
  }
}

/// Reads only what is chosen.
template <class Word>
HOTARU_DEVICE void where_strided(const StridedWhereParams& s) {
  const WhereParams& p = s.where;
  const Word one_x = value_or<Word>(p.x, p.x_value);
  const Word one_y = value_or<Word>(p.y, p.y_value);
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  int64_t at[kStridedEach][4];
  find_elements(s.index, first, p.numel, at);
  Word chosen[kStridedEach];
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n) {
    const bool yes = static_cast<const uint8_t*>(p.mask)[at[n][1]] != 0;
    const void* elements = yes ? p.x : p.y;
    chosen[n] = yes ? one_x : one_y;
    if (elements)
      chosen[n] = *reinterpret_cast<const Word*>(
          static_cast<const char*>(elements) + (yes ? at[n][2] : at[n][3]));
  }
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n)
    if (first + n * kBlock < p.numel)
      *reinterpret_cast<Word*>(static_cast<char*>(p.out) + at[n][0]) =
          chosen[n];
}

}  // namespace

#define HOTARU_WORDS(size, Word) \
  HOTARU_CUDA_KERNEL(Fill_##size, FillParams, fill<Word>) \
  HOTARU_CUDA_KERNEL(Fill_##size##_s, StridedFillParams, fill_strided<Word>) \
  HOTARU_CUDA_KERNEL(Where_##size, WhereParams, where<Word>) \
  HOTARU_CUDA_KERNEL(Where_##size##_s, StridedWhereParams, where_strided<Word>)
HOTARU_WORDS(1, uint8_t)
HOTARU_WORDS(2, uint16_t)
HOTARU_WORDS(4, uint32_t)
HOTARU_WORDS(8, uint64_t)
HOTARU_WORDS(16, Word16)

}  // namespace hotaru::cuda
