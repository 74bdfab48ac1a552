// Elementwise calls that a device runs as one.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "hotaru/runtime/kernel.h"

namespace hotaru {

class Storage;

/// Calls in their order, on elements of one shape, that of the first call's, or
/// one of each of their rows. Whatever one writes and another one touches they
/// touch as the same elements.
struct FusedCalls {
  std::vector<const KernelCall*> calls;
  /// Elements of the rows that calls work on; 0 if they all are elementwise.
  int64_t columns = 0;
  /// Set if the last call reduces what the others, all elementwise, compute.
  bool reduces = false;
  /// Storages that only these calls touch: what they write need not be kept.
  std::unordered_set<const Storage*> inner;
  /// Whatever keeps the calls alive.
  std::shared_ptr<const void> owner;

  /// Kernels that a device makes of them, once.
  mutable std::mutex mutex;
  mutable std::shared_ptr<void> made;
};

/// Attributes of the kernel "fused_calls". Its operands are all that the calls
/// touch.
struct FusedAttributes {
  std::shared_ptr<const FusedCalls> calls;
};

}  // namespace hotaru
