// Inner loops that bring elements of one dtype into another.
#pragma once

#include <optional>

#include "hotaru/backend/common/elementwise.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cpu {

/// Between dtypes that kernels compute with. Throws NotImplementedError for
/// others.
LoopNest::Inner cast_loop(DType to, DType from);
/// Where one of them is_rare(), and they differ.
Elementwise rare_cast(DType to, DType from);

}  // namespace hotaru::cpu
