// Launching elementwise calls as one kernel.
#pragma once

#include <span>
#include <unordered_set>
#include <vector>

#include "hotaru/backend/cuda/fused/background.h"
#include "hotaru/backend/cuda/fused/element_text.h"

namespace hotaru::cuda::fused {

/// Calls in their order as few kernels: those of one shape together, unless
/// that is too much for the parameters. Others are launched as they are.
class ElementKernels {
 public:
  ElementKernels() = default;
  /// `inner` need not be written.
  ElementKernels(std::span<const KernelCall* const> calls,
                 const std::unordered_set<const Storage*>& inner);

  /// Launches the separate calls where a kernel is not there yet.
  void run() const;

 private:
  struct Part {
    std::vector<const KernelCall*> calls;
    FusedText text;
    std::shared_ptr<BackgroundKernel> dense, strided;
  };

  void add(std::span<const KernelCall* const> calls,
           const std::unordered_set<const Storage*>& inner);
  static bool run(const Part& part);

  std::vector<Part> parts_;
};

}  // namespace hotaru::cuda::fused
