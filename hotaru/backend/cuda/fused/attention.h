// Attention that goes on with its results: launching what attention_text.h
// writes.
#pragma once

#include "hotaru/backend/common/pointwise/fused.h"

namespace hotaru::cuda::fused {

/// Launches a group that begins with attention as one kernel. False if there is
/// none yet, or none at all.
bool run_fused_attention(const FusedCalls& calls);

}  // namespace hotaru::cuda::fused
