// Times of calls on devices that have queues of their own, for a profile: the
// host's clock around such a call says how long it took to launch.
#pragma once

#include <cstdint>
#include <string>

#include "hotaru/core/ref.h"

namespace hotaru {

class KernelCall;

/// What one call had its device do.
struct DeviceWork : RefCounted {
  /// The kernel's name, or, of a copy, "Memcpy HtoD (Pinned -> Device)".
  std::string name;
  int device = 0;
  /// A small number of the stream, the same for as long as the process lives.
  int64_t lane = 0;
  /// Copies between host and device, and within and between devices.
  bool copies = false;
  /// Of a copy.
  int64_t bytes = 0;
  /// Nanoseconds on the steady clock, and how many it took; there when
  /// DeviceTimer::finish() has returned. A duration below 0: it was lost.
  int64_t start = 0, duration = -1;
};

/// Times the calls of one stream. Thread-safe.
class StreamTimer {
 public:
  virtual ~StreamTimer() = default;
  /// Runs the call in this thread, which is to launch it on that stream.
  virtual Ref<DeviceWork> run(const KernelCall& call) = 0;
};

/// Times calls for one profile. Thread-safe; waits for nothing but where it
/// says so.
class DeviceTimer {
 public:
  virtual ~DeviceTimer() = default;
  /// Of the stream whose call runs in this thread; lives as long as this does.
  virtual StreamTimer& here() = 0;
  /// Waits for the streams that were timed; throws the first of their errors.
  virtual void synchronize() = 0;
  /// Waits for what was timed, and reads its times. Throws nothing.
  virtual void finish() = 0;
};

}  // namespace hotaru
