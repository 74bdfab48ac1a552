// Lines of four-byte elements that are moved or converted with the widest
// vectors that this processor has.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// to[i] = x[n - 1 - i]; they do not overlap.
void reverse_words(const uint32_t* x, uint32_t* to, int64_t n);

/// Towards zero; the smallest int32 where that cannot hold it.
void truncate_floats(const float* x, int32_t* to, int64_t n);

}  // namespace hotaru::cpu
