// Calls that work on rows, as parts of kernels that keep rows.
#pragma once

#include "hotaru/runtime/backend.h"

namespace hotaru::cuda::fused {

struct RowPart {
  enum Kind { kNone, kReduce, kSoftmax, kLogSoftmax, kNorm };
  Kind kind = kNone;
  /// Operand of the elements' shape, and result of it: null of a reduction.
  const Tensor *in = nullptr, *out = nullptr;
  /// Elements of a row: the last dimensions, side by side.
  int64_t columns = 0;
};

/// kNone also for calls whose rows are not side by side, or too long to keep.
RowPart row_part(const KernelCall& call);

/// Role that a call can have in a kernel that is compiled here.
FusedRole fused_role(const KernelCall& call);

}  // namespace hotaru::cuda::fused
