// Beginning of every function of the driver: the machine's lock, the calling
// thread's context, and the errors that stand in the way.
#pragma once

#include "hotaru/backend/cuda/driver_entries.h"
#include "hotaru/backend/soft_gpu/machine.h"

#define HOTARU_CUDA_DECLARE(name, symbol, params) \
  __attribute__((visibility("default"))) CUresult symbol params;
namespace hotaru::cuda {
extern "C" {
HOTARU_CUDA_ENTRIES(HOTARU_CUDA_DECLARE)
HOTARU_CUDA_GRAPH_ENTRIES(HOTARU_CUDA_DECLARE)
HOTARU_CUDA_EDGE_ENTRIES(HOTARU_CUDA_DECLARE)
}
}  // namespace hotaru::cuda
#undef HOTARU_CUDA_DECLARE

namespace hotaru::soft_gpu {

/// For tests: from now on every call that concerns a device answers with
/// `error`, and its queues do nothing, as when a GPU was taken away; success
/// gives it back. Devices that do not exist are left alone.
extern "C" __attribute__((visibility("default"))) void hotaru_softgpu_fail(
    int device, int error);
/// For tests: how many events there are.
extern "C" __attribute__((visibility("default"))) size_t
hotaru_softgpu_events();

class Call {
 public:
  enum Needs { kMachine, kContext };

  explicit Call(Needs needs);

  /// The error that the function has to return at once, or success.
  cuda::CUresult error = cuda::CUDA_SUCCESS;

  Machine& machine() { return *machine_; }
  Memory& memory() { return machine_->memory; }
  Machine::Lock& lock() { return lock_; }
  /// The current context's; only with kContext.
  int device() const { return device_; }
  Device& state() { return machine_->devices[device_]; }

  bool has_device(int device) const;
  StreamPtr find(cuda::CUstream handle) const;
  bool has_event(cuda::CUevent event) const;

 private:
  Machine* machine_;
  Machine::Lock lock_;
  int device_ = -1;
};

/// The calling thread's context.
extern thread_local cuda::CUcontext current_context;

}  // namespace hotaru::soft_gpu
