// Few rows of floats times int4 weights (NarrowLayout::kInt4) by AVX512-VNNI.
//
// Products of floats take as many instructions as memory leaves time for. So a
// row's numbers become integers of 24 bits with a scale for each group, as near
// as 2^-24 of the group's largest, each of three signed bytes, and four columns
// of 64 rows meet them by twelve instructions. Sums over a group are exact.
#pragma once

#include <cstdint>

#include "hotaru/backend/cpu/matmul/narrow/weight_only_rows.h"

namespace hotaru::cpu {

struct Int4Quads {
  /// True if groups may be of that size.
  static constexpr bool suits(int64_t group) {
    return group % 4 == 0 && group <= 4096;
  }
  /// Floats that a row takes in this form.
  static constexpr int64_t size(int64_t k, int64_t group) {
    return k / group * (3 * group / 4 + 4);
  }
  /// A row of k floats in it; false where it has none, since numbers are not
  /// finite or too small.
  bool (*order)(const float* x, int64_t k, int64_t group, float* to);
  /// Products of rows in this form.
  Int4Products multiply;
};

/// Null where the processor lacks the instructions.
const Int4Quads* int4_quads();

}  // namespace hotaru::cpu
