// How attention's forward is launched.
#pragma once

#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/attention.h"

namespace hotaru::cuda {

struct AttentionLaunch {
  AttentionParams params;
  bool tensor_cores = false;
  /// attention_width() of the longest rows.
  uint32_t width = 0;
  Grid grid;
  unsigned shared = 0;
};

/// Launch of a call of "attention" with results.
AttentionLaunch attention_launch(const KernelCall& call);

}  // namespace hotaru::cuda
