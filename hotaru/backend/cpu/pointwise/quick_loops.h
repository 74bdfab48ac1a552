// Loops of formulas whose kernels are compiled once for every processor
// (HOTARU_QUOTIENTS, HOTARU_LIBRARY, "pow"), with the widest vectors that this
// one has, for the dtypes that gain by it.
#pragma once

#include <optional>

#include "hotaru/backend/common/elementwise.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cpu {

enum class Quick {
  kDivTrunc,
  kDivFloor,
  kRemainder,
  kFmod,
  kShiftLeft,
  kShiftRight,
  kAngle,
  kPow,
  kLog2,
  kLog10,
};

/// Types for which division and its like have such loops: floats, their 16-bit
/// kinds, and integers whose quotients are worth a double's division.
using QuickTypes = TypeList<float, double, Half, BFloat16, int32_t, int64_t>;

/// Nothing where the dtype has no such loop.
std::optional<Elementwise> quick_loop(Quick which, const KernelCall& call);

}  // namespace hotaru::cpu
