// Runs of 16-bit floating numbers as float and back, with the widest vectors
// that this processor has. Rounds to nearest even, as Half and BFloat16 do.
#pragma once

#include <cstdint>

#include "hotaru/core/half.h"

namespace hotaru::cpu {

void widen(const Half* x, float* out, int64_t n);
void widen(const BFloat16* x, float* out, int64_t n);
void narrow(const float* x, Half* out, int64_t n);
void narrow(const float* x, BFloat16* out, int64_t n);

}  // namespace hotaru::cpu
