// Where the time goes: every call through the door while a profiler runs.
#pragma once

#include <cstdint>
#include <string>
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

/// A node of a backward pass that ran.
struct NodeRecord {
  std::string name;
  /// The whole of its turn: hooks, and gradients that are passed on; without,
  /// what it computes alone.
  bool turn;
  /// See Node::sequence().
  uint64_t sequence;
  int64_t thread;
  int64_t start, duration;
};

/// A block of memory that a storage took, or gave back: `nbytes` is negative.
struct MemoryRecord {
  int64_t thread, time;
  const void* data;
  int64_t nbytes;
  Device device;
};

/// Contents of a recording, each in order of the end.
struct Profile {
  std::vector<CallRecord> calls;
  std::vector<NodeRecord> nodes;
  std::vector<MemoryRecord> memory;
  /// Work of devices that is none of a call's.
  DeviceProfile devices;
};

/// Wishes of a profile beside the calls and nodes.
struct ProfileOptions {
  bool shapes = false;
  bool memory = false;
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
/// Stops and gives what ran since. Queued calls that have not run yet are left
/// out: synchronize first. Waits for what is timed on devices.
Profile stop_profiling();

namespace detail {

bool profiling();
/// Runs the call and, if a profiler runs, records it; one that ends later is
/// recorded then (streams/late_call.h).
void run_recorded(const KernelCall& call, DeviceType type, int64_t stream);
/// The call has ended.
void end_record(CallRecord record);
/// When it is, if a profiler runs; 0 otherwise.
int64_t profiled_now();
/// Ends what began at record.start; the rest of the time is filled in.
void end_node(NodeRecord record);

/// Records a node that runs for a scope, if a profiler does.
class NodeScope {
 public:
  NodeScope(const std::string& name, uint64_t sequence, bool turn)
      : name_(name),
        sequence_(sequence),
        turn_(turn),
        start_(profiling() ? profiled_now() : 0) {}
  ~NodeScope() {
    if (start_ != 0) [[unlikely]]
      end_node({name_, turn_, sequence_, 0, start_, 0});
  }
  NodeScope(const NodeScope&) = delete;
  NodeScope& operator=(const NodeScope&) = delete;

 private:
  const std::string& name_;
  uint64_t sequence_;
  bool turn_;
  int64_t start_;
};

}  // namespace detail

}  // namespace hotaru
