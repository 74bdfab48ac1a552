// Elements of lines, and numbers that compare as they do.
#pragma once

#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/sort/sort.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {

template <size_t kBytes>
using Unsigned = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t,
                       std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

template <class T>
__device__ bool is_number(Stored<T> x) {
  if constexpr (kIsFloating<T>)
    return widen<T>(x) == widen<T>(x);
  else
    return true;
}

/// Compares as elements do: NaN above everything and equal to NaN, -0 equal to
/// 0.
template <class T>
__device__ uint64_t sort_key(Stored<T> x) {
  using Key = Unsigned<sizeof(T)>;
  constexpr Key kTop = Key(Key{1} << (sizeof(T) * 8 - 1));
  if constexpr (kIsFloating<T>) {
    if (!is_number<T>(x)) return Key(~Key{0});
    const auto bits = std::bit_cast<Key>(x);
    if (Key(bits << 1) == 0) return kTop;
    return bits & kTop ? Key(~bits) : Key(bits | kTop);
  } else if constexpr (kIsBool<T>) {
    return x != 0;
  } else if constexpr (std::is_signed_v<T>) {
    return Key(Key(x) ^ kTop);
  } else {
    return x;
  }
}

/// Beginning of a line, in each operand.
struct SortLine {
  char *values, *indices;
  const char* in;

  __device__ SortLine(const SortParams& p, uint32_t line) {
    uint32_t i[1] = {line};
    int64_t at[1][3];
    p.others.find(i, at);
    values = static_cast<char*>(p.values) + at[0][0];
    indices = static_cast<char*>(p.indices) + at[0][1];
    in = static_cast<const char*>(p.in) + at[0][2];
  }
};

template <class T>
__device__ Stored<T> element(const SortParams& p, const SortLine& line,
                             uint32_t position) {
  return *reinterpret_cast<const Stored<T>*>(line.in +
                                             int64_t(position) * p.in_step);
}

}  // namespace hotaru::cuda
