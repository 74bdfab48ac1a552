// The CUDA devices of this process: driver, contexts, properties, and which
// device a thread means.
#pragma once

#include "hotaru/backend/cuda/driver.h"
#include "hotaru/runtime/accelerator.h"

namespace hotaru::cuda {

/// How many there are; 0 without a driver, and in a child of a process that
/// used CUDA. Creates no context.
int device_count();
/// Throws PyTorch's text for what is missing: a driver, a device, or, after a
/// fork, CUDA itself.
void check_available();
/// 0 without a driver.
int driver_version();
/// The driver; throws what check_available() throws.
const Driver& driver();
/// Tells whether the GPU is one in software.
bool is_soft();
/// Tells whether a context was made in this process.
bool is_initialized();

/// Throws "CUDA error: invalid device ordinal" unless there is one.
void check_device(int device);
const DeviceProperties& properties(int device);
/// Tells whether a device can reach another one's memory.
bool can_access_peer(int device, int peer);

/// The device that this thread means where none is named: 0 at first.
int current_device();
void set_current_device(int device);

/// Makes the device's primary context this thread's. One comparison if it is.
void use(int device);
/// The same for a scope: what looks at another device's work on the way must
/// leave the launching one's context in place.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_;
};
CUcontext context(int device);
/// Free and all memory of the device, in bytes.
void memory_info(int device, size_t& free, size_t& total);

/// Tells whether CUDA is lost because the process forked; what destructors ask,
/// as they may not throw.
bool forked();

}  // namespace hotaru::cuda

/// Calls an entry of the driver; throws hotaru::Error for what it reports.
#define HOTARU_CUDA(entry, ...) \
  ::hotaru::cuda::check(::hotaru::cuda::driver().entry(__VA_ARGS__), #entry)
