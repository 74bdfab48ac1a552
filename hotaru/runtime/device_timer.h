// Times of calls on devices that have queues of their own, for a profile: the
// host's clock around such a call says how long it took to launch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hotaru/core/ref.h"

namespace hotaru {

class KernelCall;

enum class WorkKind : uint8_t { kKernel, kCopy, kFill };

/// Work that a device did, in one piece.
struct DeviceWork {
  /// The kernel's name, or "Memcpy HtoD (Pinned -> Device)", or
  /// "Memset (Device)".
  std::string name;
  WorkKind kind = WorkKind::kKernel;
  int device = 0;
  /// A small number of the stream, the same for as long as the process lives.
  int64_t lane = 0;
  /// Bytes copied (between host and device, within, between devices) or filled.
  int64_t bytes = 0;
  /// Nanoseconds on the steady clock, and how many it took; there when
  /// DeviceTimer::finish() has returned. A duration below 0: it was lost.
  int64_t start = 0, duration = -1;

  /// Data from here on are known where kernels are timed one by one, which
  /// `correlation` other than 0 says: it is of what launched them.
  uint32_t correlation = 0;
  std::array<int32_t, 3> grid{}, block{};
  /// Registers of a thread, and the bytes of a block.
  int32_t registers = 0, shared_memory = 0;
  /// Graph of the device that launched it, and the node there; 0: none.
  uint32_t graph = 0;
  uint64_t graph_node = 0;
};

/// Work that one call had its device do, by start: all of it as one piece, or
/// each kernel, copy and fill, if the timer can tell them apart.
struct CallWork : RefCounted {
  std::vector<DeviceWork> parts;
};

/// Knowledge of a profile about devices beside the works of its calls.
struct DeviceProfile {
  /// Work that no call launched: other libraries of the process.
  std::vector<DeviceWork> others;
  /// How much the devices did of which nothing is known, for want of memory.
  int64_t lost = 0;
  /// Why kernels were not told apart though they should have been; empty: no
  /// reason to complain.
  std::string complaint;
};

/// Times the calls of one stream. Thread-safe.
class StreamTimer {
 public:
  virtual ~StreamTimer() = default;
  /// Runs the call in this thread, which is to launch it on that stream.
  virtual Ref<CallWork> run(const KernelCall& call) = 0;
};

/// Times calls for one profile. Thread-safe; waits for nothing but where it
/// says so.
class DeviceTimer {
 public:
  virtual ~DeviceTimer() = default;
  /// Timer of the stream whose call runs in this thread; lives as long as this.
  virtual StreamTimer& here() = 0;
  /// From now on there is nothing to time until it says `wanted` again.
  virtual void collect(bool /*wanted*/) {}
  /// Waits for the streams that were timed; throws the first of their errors.
  virtual void synchronize() = 0;
  /// Waits for what was timed, and reads its times. Throws nothing.
  virtual DeviceProfile finish() = 0;
};

}  // namespace hotaru
