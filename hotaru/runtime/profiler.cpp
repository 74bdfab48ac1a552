#include "hotaru/runtime/profiler.h"

#include <chrono>
#include <memory>
#include <mutex>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/memory_watch.h"
#include "hotaru/core/mutex.h"
#include "hotaru/platform/thread.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/operand.h"
#include "hotaru/runtime/streams/late_call.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

constinit std::atomic<bool> running{false};
constinit std::atomic<bool> with_shapes{false};
constinit std::atomic<bool> with_devices{false};
constinit Mutex mutex;
// Guarded by the mutex.
struct Recording {
  std::vector<CallRecord> calls;
  std::vector<NodeRecord> nodes;
  // Made by the first call that it times.
  std::shared_ptr<DeviceTimer> timer;
};
Recording& recording() {
  static auto& all = *new Recording;  // outlives all threads
  return all;
}

// Storages may be told of while the other one is held.
constinit Mutex memory_mutex;
std::vector<MemoryRecord>& memory_records() {
  static auto& all = *new std::vector<MemoryRecord>;
  return all;
}

int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() /
         std::chrono::nanoseconds(1);
}

/// Null where the call's times are not asked for.
std::shared_ptr<DeviceTimer> timer_for(DeviceType type) {
  if (type == DeviceType::kCPU || !with_devices) return nullptr;
  const std::lock_guard lock(mutex);
  std::shared_ptr<DeviceTimer>& timer = recording().timer;
  if (!timer && running) timer = accelerator(type).make_timer();
  return timer;
}

std::shared_ptr<DeviceTimer> current_timer() {
  const std::lock_guard lock(mutex);
  return recording().timer;
}

void note_memory(const void* data, int64_t nbytes, Device device) {
  const MemoryRecord record{platform::thread_id(), now(), data, nbytes, device};
  const std::lock_guard lock(memory_mutex);
  // The profile may have ended since the watch was looked at.
  if (detail::memory_watch.load(std::memory_order_relaxed))
    memory_records().push_back(record);
}

std::vector<MemoryRecord> end_memory() {
  const std::lock_guard lock(memory_mutex);
  detail::memory_watch = nullptr;
  return std::exchange(memory_records(), {});
}

}  // namespace

void start_profiling(ProfileOptions options) {
  const std::lock_guard lock(mutex);
  HOTARU_CHECK(!running.load(), "Profiler is already enabled on this thread");
  recording() = {};
  with_shapes = options.shapes;
  with_devices = options.devices;
  if (options.memory) detail::memory_watch = note_memory;
  running = true;
  detail::watchers.fetch_add(1);
}

void profile_devices(bool wanted) {
  with_devices = wanted;
  if (const auto timer = current_timer()) timer->collect(wanted);
}

void synchronize_profiled() {
  if (const auto timer = current_timer()) timer->synchronize();
}

Profile stop_profiling() {
  Profile out;
  Recording found;
  {
    const std::lock_guard lock(mutex);
    HOTARU_CHECK(running.exchange(false), "the profiler is not running");
    detail::watchers.fetch_sub(1);
    found = std::exchange(recording(), {});
    out.memory = end_memory();
  }
  if (found.timer) out.devices = found.timer->finish();
  out.calls = std::move(found.calls);
  out.nodes = std::move(found.nodes);
  return out;
}

namespace detail {

bool profiling() {
  return running.load(std::memory_order_relaxed);
}

void run_recorded(const KernelCall& call, DeviceType type, int64_t stream) {
  if (!profiling()) return call.run(type);
  const std::shared_ptr<DeviceTimer> timer = timer_for(type);
  StreamTimer* const timed = timer ? &timer->here() : nullptr;
  CallRecord record{
      &call.kernel(), stream, platform::thread_id(), now(), 0, {}, {}};
  if (timed)
    record.work = timed->run(call);
  else
    call.run(type);
  if (with_shapes)
    for (const Operand& operand : call.operands())
      if (ordered_of(operand) && !operand.object)
        record.shapes.emplace_back(operand.tensor->sizes());
  if (LateCall* late = late_of(call))
    return late->keep(std::make_unique<CallRecord>(std::move(record)));
  record.duration = now() - record.start;
  const std::lock_guard lock(mutex);
  // Another profile may have begun meanwhile, which knows not of the work.
  if (running && (!timer || timer == recording().timer))
    recording().calls.push_back(std::move(record));
}

void end_record(CallRecord record) {
  record.duration = now() - record.start;
  const std::lock_guard lock(mutex);
  if (running) recording().calls.push_back(std::move(record));
}

int64_t profiled_now() {
  return now();
}

void end_node(NodeRecord record) {
  record.thread = platform::thread_id();
  record.duration = now() - record.start;
  const std::lock_guard lock(mutex);
  if (running) recording().nodes.push_back(std::move(record));
}

}  // namespace detail

}  // namespace hotaru
