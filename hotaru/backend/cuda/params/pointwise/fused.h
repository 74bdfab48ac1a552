// Parameters of kernels that are made of several formulas at run time; their
// text is jit/fused_text.h's.
#pragma once

#include <cstddef>

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

struct FusedParams {
  static constexpr int kMostOperands = 12, kMostFormulas = 12,
                       kMostNumbers = 16;

  /// Of what lies in memory: the first element.
  void* address[kMostOperands] = {};
  uint32_t numel = 0;
  /// Formula objects with members, F<OpMath<T>>.
  alignas(16) std::byte formula[kMostFormulas][64] = {};
  /// Numbers from the CPU, OpMath<T>.
  alignas(16) std::byte number[kMostNumbers][16] = {};
  /// Of kernels for any strides.
  Index<kMostOperands> index;
};
static_assert(sizeof(FusedParams) <= 4096);

}  // namespace hotaru::cuda
