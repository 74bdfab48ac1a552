// Parameters of attention that goes on with what it has computed, made at run
// time; its text is fused/attention_text.h's.
#pragma once

#include <cstddef>

#include "hotaru/backend/cuda/params/attention.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"

namespace hotaru::cuda {

/// Grid, block and shared memory are attention's.
struct FusedAttentionParams {
  static constexpr int kMostOperands = FusedParams::kMostOperands,
                       kMostFormulas = FusedParams::kMostFormulas,
                       kMostNumbers = FusedParams::kMostNumbers;
  /// From an element to its neighbours in `out`; in bytes, 0 where an operand
  /// broadcasts.
  struct Steps {
    int64_t batch = 0, head = 0, row = 0, column = 0;
  };

  AttentionParams attention;
  /// First elements of the elementwise calls' operands.
  void* address[kMostOperands] = {};
  Steps steps[kMostOperands];
  /// Bits of operands of which four neighbours from a multiple of four columns
  /// on are one word.
  uint32_t vectors = 0;
  alignas(16) std::byte formula[kMostFormulas][64] = {};
  alignas(16) std::byte number[kMostNumbers][16] = {};
};
static_assert(sizeof(FusedAttentionParams) <= 4096);

}  // namespace hotaru::cuda
