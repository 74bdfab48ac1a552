// Kernels that are compiled while others serve; with HOTARU_CUDA_COMPILE=wait
// in the environment graphs wait for them as they are made.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "hotaru/backend/cuda/fused/pending.h"
#include "hotaru/backend/cuda/jit/program.h"
#include "hotaru/backend/cuda/launch.h"

namespace hotaru::cuda::fused {

/// One text of a group of calls. Thread-safe.
class BackgroundKernel final : public PendingKernel {
 public:
  bool settled() const override {
    return state_ == kReady || state_ == kRefused;
  }
  /// Null while it is compiled, or if it cannot be.
  const jit::Program* get() const {
    return state_.load(std::memory_order_acquire) == kReady ? program_.get()
                                                            : nullptr;
  }
  /// The kernel, or null until it is there: begins to compile the text at the
  /// first call, and tells a graph that is being recorded to ask again.
  static const jit::Program* ready(
      const std::shared_ptr<BackgroundKernel>& self, const std::string& text,
      int device);

 private:
  enum State : int { kNew, kCompiling, kReady, kRefused };

  void compile(const std::string& text, int device);
  static void begin(const std::shared_ptr<BackgroundKernel>& self,
                    const std::string& text, int device);

  std::atomic<int> state_{kNew};
  std::shared_ptr<const jit::Program> program_;
};

/// Launches such a kernel, in blocks of kBlock threads. Its text begins with
/// begin_kernel(), so that graphs may set it up early.
void launch_fused(const jit::Program& program, int device, Grid grid,
                  void* params, unsigned shared_bytes = 0);

}  // namespace hotaru::cuda::fused
