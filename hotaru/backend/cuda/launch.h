// Kernels on the device: found by their symbol, launched on the stream whose
// call runs in this thread.
#pragma once

#include <array>
#include <atomic>
#include <string>

#include "hotaru/backend/cuda/stream.h"

namespace hotaru::cuda {

/// A kernel of the library's images. Copies of one symbol share nothing; keep
/// it. Thread-safe.
class Function {
 public:
  explicit Function(std::string symbol) : symbol_(std::move(symbol)) {}
  const std::string& symbol() const { return symbol_; }
  /// Loads it at first need. Throws Error if no image holds it.
  CUfunction on(int device) const {
    const CUfunction f =
        loaded_[size_t(device)].load(std::memory_order_acquire);
    return f ? f : load(device);
  }

 private:
  CUfunction load(int device) const;

  std::string symbol_;
  mutable std::array<std::atomic<CUfunction>, kMostDevices> loaded_{};
};

/// The function of a symbol that is made at run time; lives for ever.
const Function& function_named(const std::string& symbol);

struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

/// Launches on launching_timeline(). A grid without blocks is nothing to do.
void launch(const Function& function, Grid grid, unsigned block,
            unsigned shared_bytes, const void* params);
template <class Params>
void launch(const Function& function, Grid grid, unsigned block,
            const Params& params, unsigned shared_bytes = 0) {
  launch(function, grid, block, shared_bytes,
         static_cast<const void*>(&params));
}

/// Memory for the time of a call: it is given back when the object goes, and
/// the stream runs what uses it before what gets it next.
class Workspace {
 public:
  explicit Workspace(size_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void* data() const { return data_; }

 private:
  int device_;
  size_t bytes_;
  void* data_;
};

/// Address of a tensor's first element for a kernel of the launching device.
/// Throws Error for memory that lies elsewhere.
void* device_address(const Tensor& t);

}  // namespace hotaru::cuda
