// Lines of elements, most of four bytes, that are moved or converted with the
// widest vectors that this processor has.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// to[i] = x[n - 1 - i]; they do not overlap.
void reverse_words(const uint32_t* x, uint32_t* to, int64_t n);

/// `count` lines of n bytes, whose beginnings lie so many bytes apart; they do
/// not overlap.
void copy_lines(const char* from, int64_t from_step, char* to, int64_t to_step,
                int64_t n, int64_t count);

/// Towards zero; the smallest int32 where that cannot hold it.
void truncate_floats(const float* x, int32_t* to, int64_t n);

}  // namespace hotaru::cpu
