// Elementwise calls as the text of one kernel.
#pragma once

#include <string>
#include <vector>

#include "hotaru/backend/common/pointwise/fused.h"

namespace hotaru::cuda::jit {

/// The kernel of some calls: what it reads and writes, in the order of
/// FusedParams, and its text.
struct FusedText {
  /// What lies in memory: elements that all calls see alike.
  std::vector<const Tensor*> operands;
  std::vector<bool> written;
  /// Calls whose formula objects have members, and numbers on the CPU with the
  /// calls that read them.
  std::vector<const KernelCall*> formulas;
  struct Number {
    const Tensor* tensor;
    DType as;  // the first input's of the call
  };
  std::vector<Number> numbers;
  /// Bytes of the largest element.
  size_t item = 1;
  /// The bodies of an element: of kernels for vectors, and for any strides.
  std::string dense, strided;
};

/// Whether a call can be part of such a kernel.
bool fits_fused(const KernelCall& call);

/// Empty texts if it is too much for one kernel.
FusedText fused_text(const FusedCalls& calls);

inline constexpr const char* kFusedName = "Fused";

/// Elements of a thread of a dense kernel.
constexpr uint32_t fused_length(size_t item) {
  return uint32_t(item >= 16 ? 1 : item >= 2 ? 16 / item : 8);
}

}  // namespace hotaru::cuda::jit
