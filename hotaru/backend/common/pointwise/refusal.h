// The errors of elementwise kernels for dtypes that they have no code for.
#pragma once

#include <string_view>

#include "hotaru/core/dtype.h"

namespace hotaru {

/// Throws what PyTorch says when its kernel lacks the dtype; on the CPU it has
/// names of its own for most kernels.
[[noreturn]] void refuse_pointwise(std::string_view kernel, DType dtype);

}  // namespace hotaru
