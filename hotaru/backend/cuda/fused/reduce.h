// Launching reductions whose elements are computed as they are reduced.
#pragma once

#include "hotaru/backend/cuda/fused/background.h"
#include "hotaru/backend/cuda/fused/reduce_text.h"

namespace hotaru::cuda::fused {

/// Tells whether there is a text, and vectors reach all operands where they
/// lie.
bool fits(const ReduceText& text, const KernelCall& reduction);

/// Runs the reduction's call, which fits. False, and nothing is launched, if
/// the kernel is not there yet.
bool run_reduce(const ReduceText& text, const KernelCall& reduction,
                const std::shared_ptr<BackgroundKernel>& kernel);

}  // namespace hotaru::cuda::fused
