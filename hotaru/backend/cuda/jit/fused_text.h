// Elementwise calls as the text of one kernel.
#pragma once

#include "hotaru/backend/cuda/jit/fused_writer.h"

namespace hotaru::cuda::jit {

/// The kernel of some calls, and its text: for vectors, and for any strides.
struct FusedText {
  FusedValues values;
  std::string dense, strided;
};

/// Empty texts if it is too much for one kernel.
FusedText fused_text(const FusedCalls& calls);

inline constexpr const char* kFusedName = "Fused";

/// Elements of a thread of a dense kernel.
constexpr uint32_t fused_length(size_t item) {
  return uint32_t(item >= 16 ? 1 : item >= 2 ? 16 / item : 8);
}

}  // namespace hotaru::cuda::jit
