// Kernels from source text, ready to be launched. Whoever makes kernels at run
// time asks here: each text is compiled once a process and architecture, and
// found on disk by the next process.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "hotaru/backend/cuda/driver_types.h"
#include "hotaru/runtime/own/own_kernel.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::cuda::jit {

/// Compiled for each architecture and loaded for each device when that is
/// first asked for. Thread-safe; lives as long as the process.
class Program final : public OwnKernel {
 public:
  explicit Program(KernelSource source) : source_(std::move(source)) {}
  const std::string& name() const override { return source_.name; }
  void load(int device) const override { on(device); }

  /// The function on a device, whose context becomes current if it is loaded.
  CUfunction on(int device) const {
    const CUfunction f =
        functions_[size_t(device)].load(std::memory_order_acquire);
    return f ? f : load_function(device);
  }
  /// Lets launches on a device have so much shared memory, from now on.
  void allow_shared(int device, unsigned bytes) const;

 private:
  CUfunction load_function(int device) const;
  CUkernel kernel_for(const std::string& architecture) const;
  bool on_disk() const;

  const KernelSource source_;
  mutable std::array<std::atomic<CUfunction>, kMostDevices> functions_{};
  mutable std::mutex mutex_;  // guards the rest
  mutable std::map<std::string, CUkernel> kernels_;
  mutable std::array<unsigned, kMostDevices> shared_{};
};

/// The program of a source, the same for all who ask for the same, compiled
/// and loaded for a device. Throws Error with the compiler's log.
std::shared_ptr<const Program> compiled(const KernelSource& source, int device);

CompileCounts counts();

}  // namespace hotaru::cuda::jit
