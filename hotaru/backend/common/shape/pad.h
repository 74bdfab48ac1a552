// Parameters of the kernels of padding besides their operands.
#pragma once

#include "hotaru/core/scalar.h"
#include "hotaru/core/shape.h"

namespace hotaru {

enum class PadMode : uint8_t { kConstant, kReflect, kReplicate, kCircular };

/// Operands of "pad" are write out, read x; of "pad_transposed", which adds
/// what was copied back to where it came from, write x, read out. Along each
/// dimension out's element i is x's element i - before[d], or what the mode
/// puts in its place; `before` may be negative.
struct PadAttributes {
  PadMode mode = PadMode::kConstant;
  Dims before;
  Scalar value = 0;
};

}  // namespace hotaru
