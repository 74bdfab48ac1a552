// Few rows of floats times int8 weights (NarrowLayout::kInt8) by AVX512-VNNI.
//
// A row's numbers become integers of 24 bits with one scale, as near as 2^-24
// of the largest, each of three signed bytes, and 64 weights meet them by three
// instructions, where widening the weights takes eight before any product. Sums
// are exact.
#pragma once

#include <cstdint>

#include "hotaru/backend/cpu/matmul/narrow/weight_only_rows.h"

namespace hotaru::cpu {

struct Int8Quads {
  /// True if sums of k products fit 32 bits.
  static constexpr bool suits(int64_t k) { return k > 0 && k <= 65536; }
  /// Floats that a row takes in this form.
  static constexpr int64_t size(int64_t k) { return (k + 63) / 64 * 48 + 16; }
  /// A row of k floats in it; false where it has none, since numbers are not
  /// finite, too small or too far apart for one scale.
  bool (*order)(const float* x, int64_t k, float* to);
  /// As WeightOnlyKernels have it, of rows in this form.
  void (*multiply)(const FewRows& x, int64_t n, const int8_t* w,
                   const FewSums& out);
};

/// Null where the processor lacks the instructions.
const Int8Quads* int8_quads();

}  // namespace hotaru::cpu
