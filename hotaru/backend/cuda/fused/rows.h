// Launching kernels that keep rows.
#pragma once

#include "hotaru/backend/cuda/fused/background.h"
#include "hotaru/backend/cuda/fused/row_text.h"

namespace hotaru::cuda::fused {

/// False, and nothing is launched, if the kernel is not there yet or would not
/// give what the separate calls give.
bool run_rows(const RowText& text,
              const std::shared_ptr<BackgroundKernel>& kernel);

}  // namespace hotaru::cuda::fused
