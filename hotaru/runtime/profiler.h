// Where the time goes: every call through the door while a profiler runs.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/core/shape.h"
#include "hotaru/runtime/device_timer.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru {

/// One kernel call that ran, or, on a device's own queue, was launched.
struct CallRecord {
  const Kernel* kernel;
  /// Stream::id of the stream it was enqueued on.
  int64_t stream;
  /// The system's number of the thread that ran it.
  int64_t thread;
  /// Nanoseconds on the steady clock, and how many it took.
  int64_t start, duration;
  /// Shapes of its tensors, if asked for.
  std::vector<Dims> shapes;
  /// Work of its device, if asked for; null of calls of the CPU.
  Ref<CallWork> work;
};

/// Wishes of a profile beside the calls.
struct ProfileOptions {
  bool shapes = false;
  /// The times of devices.
  bool devices = false;
};

/// Starts to record, in all threads. Throws if a profiler runs already. Calls
/// that are amid running are left out.
void start_profiling(ProfileOptions options = {});
/// From now on times devices, or no longer does.
void profile_devices(bool wanted);
/// Waits for the streams of devices that were timed; throws the first of their
/// errors.
void synchronize_profiled();
/// Stops and gives what ran since, in order of the end. Queued calls that
/// have not run yet are left out: synchronize first. Waits for what is timed on
/// devices; `devices` gets what is known of them beside the calls.
std::vector<CallRecord> stop_profiling(DeviceProfile* devices = nullptr);

namespace detail {

bool profiling();
/// Runs the call and, if a profiler runs, records it; one that ends later is
/// recorded then (streams/late_call.h).
void run_recorded(const KernelCall& call, DeviceType type, int64_t stream);
/// The call has ended.
void end_record(CallRecord record);

}  // namespace detail

}  // namespace hotaru
