// Elements that are only moved: what counts is their size.
#pragma once

#include "hotaru/backend/cuda/device/platform.h"

namespace hotaru::cuda {

/// 16 bytes, at multiples of 8: complex numbers of two doubles.
struct Word16 {
  uint64_t low, high;
};

/// kLength elements in a row, at a multiple of their size.
template <class Word, uint32_t kLength>
struct alignas(sizeof(Word) * kLength) Words {
  Word at[kLength];
};

}  // namespace hotaru::cuda
