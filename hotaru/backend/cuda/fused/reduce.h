// Launching reductions whose elements are computed as they are reduced.
#pragma once

#include "hotaru/backend/cuda/fused/background.h"
#include "hotaru/backend/cuda/fused/reduce_text.h"

namespace hotaru::cuda::fused {

/// Of the reduction's call. False, and nothing is launched, if the kernel is
/// not there yet or operands lie where vectors do not reach them.
bool run_reduce(const ReduceText& text, const KernelCall& reduction,
                const std::shared_ptr<BackgroundKernel>& kernel);

}  // namespace hotaru::cuda::fused
