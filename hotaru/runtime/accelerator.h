// Services that a device type beside the CPU offers on top of a back end:
// devices to choose and ask, memory that is counted, streams of others.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/runtime/backend.h"

namespace hotaru {

class Communicator;
class DeviceTimer;
struct CompileCounts;
struct KernelSource;
class OwnKernel;

struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;  // of what it can do
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

/// A library beside the driver that kernels may use: where it was found and
/// what it calls its version, or why it is not used.
struct DeviceLibrary {
  std::string name, version, path, why_not;
};

/// One of PyTorch's counters.
struct MemoryCount {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;
  void add(int64_t n) {
    current += n;
    allocated += n;
    peak = peak < current ? current : peak;
  }
  void remove(int64_t n) {
    current -= n;
    freed += n;
  }
};

/// Small blocks are those of at most 1 MiB; kAll counts both.
enum class MemoryPool : uint8_t { kSmall, kLarge, kAll };

/// A counter for each pool and for both.
struct MemoryCounts {
  MemoryCount of[3];
  const MemoryCount& all() const { return of[size_t(MemoryPool::kAll)]; }
  void add(MemoryPool pool, int64_t n) {
    of[size_t(pool)].add(n);
    of[size_t(MemoryPool::kAll)].add(n);
  }
  void remove(MemoryPool pool, int64_t n) {
    of[size_t(pool)].remove(n);
    of[size_t(MemoryPool::kAll)].remove(n);
  }
};

/// Bytes but for the numbers of blocks and segments.
struct MemoryStats {
  MemoryCounts blocks, segments, allocated, reserved, requested;
  int64_t retries = 0, out_of_memory = 0;
};

struct MemoryBlock {
  uint64_t address;
  size_t bytes, requested;
  bool used;
};
/// Memory that the allocator took from the device for one stream.
struct MemorySegment {
  uint64_t address, stream;
  size_t bytes;
  MemoryPool pool;
  std::vector<MemoryBlock> blocks;
};

/// Plans of Fourier transforms that a library keeps for a device: how many, and
/// how many at most.
struct FftPlans {
  int64_t kept, most;
};

/// Methods are thread-safe and throw Error where there is no such device.
class Accelerator : public Backend {
 public:
  /// True if a device was used in this process.
  virtual bool initialized() = 0;
  /// Libraries kernels may use: all, or that of one name, opened to find out.
  virtual std::vector<DeviceLibrary> libraries(std::string_view name) = 0;
  /// A folder of packages in which libraries may lie; see the back end's.
  virtual void add_library_root(std::string folder) = 0;
  virtual FftPlans fft_plans(int device) = 0;
  /// Gives up those last used longest ago beyond `most`, which is 0 or more.
  virtual void limit_fft_plans(int device, int64_t most) = 0;
  /// Throws what is missing if there is no device; uses the current one.
  virtual void initialize() = 0;
  /// True if the devices are made of software, for tests.
  virtual bool in_software() = 0;
  /// Support by the driver: 1000 * major + 10 * minor; 0 without a driver.
  virtual int driver_version() = 0;
  /// Targets that its kernels were compiled for: "sm_90", "compute_80".
  virtual std::vector<std::string> architectures() = 0;

  virtual void set_current_device(int device) = 0;
  /// Waits for all its streams. Throws what kernels found wrong.
  virtual void synchronize(int device) = 0;
  virtual const DeviceProperties& properties(int device) = 0;
  virtual bool can_access_peer(int device, int peer) = 0;

  /// The driver's handle of a stream, and a stream from such a handle, which
  /// has to outlive it; 0 is the default stream.
  virtual uint64_t stream_handle(const Stream& stream) = 0;
  virtual Stream external_stream(int device, uint64_t handle) = 0;
  /// The least and the greatest priority; the greatest is the smaller number.
  virtual std::pair<int, int> priority_range() = 0;
  /// Kernels from source text, see own/own_kernel.h.
  virtual std::shared_ptr<const OwnKernel> compile_kernel(
      const KernelSource& source, int device) = 0;
  virtual CompileCounts compile_counts() = 0;
  /// Key that ranks find each other by: one makes it, all are given it. Throws
  /// Error where there is no library for that.
  virtual std::string communicator_key() = 0;
  /// Returns when all `size` ranks have called it.
  virtual Ref<Communicator> make_communicator(const std::string& key, int rank,
                                              int size, int device) = 0;
  /// Waits for kernels that are compiled in the background.
  virtual void finish_compiling() = 0;
  /// Its machine code alone, for the architecture that the source names, and
  /// its symbol in there. Needs no device and keeps nothing.
  virtual std::pair<std::string, std::string> compile_image(
      const KernelSource& source) = 0;
  /// Makes what times calls on its streams for a profile.
  virtual std::shared_ptr<DeviceTimer> make_timer() = 0;

  /// Free and all memory of the device, in bytes.
  virtual std::pair<size_t, size_t> memory_info(int device) = 0;
  virtual MemoryStats memory_stats(int device) = 0;
  virtual void reset_peak_stats(int device) = 0;
  virtual void reset_accumulated_stats(int device) = 0;
  virtual std::vector<MemorySegment> memory_snapshot(int device) = 0;
  /// The share of a device's memory, in (0, 1], that this process may take.
  virtual void set_memory_fraction(int device, double fraction) = 0;
  /// Gives memory without blocks back, of all devices.
  virtual void release_unused() = 0;

  /// Host memory that devices copy from and to by themselves.
  virtual Allocator& pinned_allocator() = 0;
  virtual bool is_pinned(const void* address) = 0;
  /// The device that an address of device memory belongs to; throws
  /// ValueError for any other address.
  virtual int device_of(const void* address) = 0;
};

/// Hook for an accelerator to call once, when a default generator of its is
/// first asked for: seeds put off until then. Null at first. Loads nothing.
void set_begin_hook(void (*hook)());
void run_begin_hook();

/// The device type's; loads it at the first question.
inline Accelerator& accelerator(DeviceType type = DeviceType::kCUDA) {
  return static_cast<Accelerator&>(DeviceTable::instance().backend(type));
}

}  // namespace hotaru
