// Attention with elementwise calls behind it as the text of one kernel.
#pragma once

#include "hotaru/backend/cuda/fused/writer.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cuda::fused {

/// Tells whether calls can come behind a call in its own kernel: attention's
/// forward.
bool has_epilogue(const KernelCall& call);

/// The calls of a group behind its first one, which computes attention.
struct AttentionEpilogue {
  FusedValues values;
  /// Statements about element j of neighbours x; empty if there are too many
  /// operands.
  std::string statements;
};
AttentionEpilogue attention_epilogue(const FusedCalls& calls);

/// The kernel Fused(FusedAttentionParams). width: attention_width() of the
/// longest rows.
std::string attention_text(const AttentionEpilogue& epilogue, DType dtype,
                           bool tensor_cores, uint32_t width);

}  // namespace hotaru::cuda::fused
