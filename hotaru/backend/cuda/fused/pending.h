// Kernels of several elementwise calls: compiled in the background, launched
// once they are there.
#pragma once

#include <memory>

#include "hotaru/backend/common/pointwise/fused.h"

namespace hotaru::cuda::fused {

/// A kernel that is being compiled, or is ready, or cannot be.
class PendingKernel {
 public:
  virtual ~PendingKernel() = default;
  /// True if nothing is to be waited for any more.
  virtual bool settled() const = 0;
};

/// Waits for all that is being compiled in the background.
void finish_compiling();

}  // namespace hotaru::cuda::fused
