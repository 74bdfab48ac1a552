// The CUDA devices of this process: driver, contexts, properties, and which
// device a thread means.
#pragma once

#include <string>

#include "hotaru/backend/cuda/driver.h"

namespace hotaru::cuda {

struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;
  size_t total_memory = 0, l2_cache = 0;
  int processors = 0;
  int threads_per_processor = 0;
  int registers_per_processor = 0;
  size_t shared_per_block = 0, shared_per_block_optin = 0;
  size_t shared_per_processor = 0;
  int pci_bus = 0, pci_device = 0, pci_domain = 0;
  bool integrated = false;
  std::string uuid;
};

/// How many there are; 0 without a driver, and in a child of a process that
/// used CUDA. Creates no context.
int device_count();
/// Throws PyTorch's text for what is missing: a driver, a device, or, after a
/// fork, CUDA itself.
void check_available();
/// The driver; throws what check_available() throws.
const Driver& driver();
/// Whether the GPU is one in software.
bool is_soft();
/// Whether a context was made in this process.
bool is_initialized();

/// Throws "CUDA error: invalid device ordinal" unless there is one.
void check_device(int device);
const DeviceProperties& properties(int device);
/// Whether a device can reach another one's memory.
bool can_access_peer(int device, int peer);

/// The device that this thread means where none is named: 0 at first.
int current_device();
void set_current_device(int device);

/// Makes the device's primary context this thread's. One comparison if it is.
void use(int device);
CUcontext context(int device);
/// Free and all memory of the device, in bytes.
void memory_info(int device, size_t& free, size_t& total);

/// Whether CUDA is lost because the process forked; what destructors ask, as
/// they may not throw.
bool forked();

}  // namespace hotaru::cuda

/// Calls an entry of the driver; throws hotaru::Error for what it reports.
#define HOTARU_CUDA(entry, ...) \
  ::hotaru::cuda::check(::hotaru::cuda::driver().entry(__VA_ARGS__), #entry)
