// Elementwise calls and a reduction of what they compute, as the text of its
// first kernel.
#pragma once

#include "hotaru/backend/cuda/fused/writer.h"

namespace hotaru::cuda::fused {

struct ReduceText {
  FusedValues values;
  std::string text;
};

/// The last call is the reduction. An empty text if that does not fit: the
/// elements of all operands have to lie as the reduction's.
ReduceText reduce_text(const FusedCalls& calls);

}  // namespace hotaru::cuda::fused
