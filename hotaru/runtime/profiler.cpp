#include "hotaru/runtime/profiler.h"

#include <unistd.h>

#include <chrono>
#include <mutex>

#include "hotaru/core/error.h"
#include "hotaru/core/mutex.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

constinit std::atomic<bool> running{false};
constinit std::atomic<bool> with_shapes{false};
constinit Mutex mutex;
// Guarded by the mutex.
std::vector<CallRecord>& records() {
  static auto& all = *new std::vector<CallRecord>;  // outlives all threads
  return all;
}

int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() /
         std::chrono::nanoseconds(1);
}

}  // namespace

void start_profiling(bool shapes) {
  const std::lock_guard lock(mutex);
  HOTARU_CHECK(!running.load(), "Profiler is already enabled on this thread");
  records().clear();
  with_shapes = shapes;
  running = true;
  detail::watchers.fetch_add(1);
}

std::vector<CallRecord> stop_profiling() {
  const std::lock_guard lock(mutex);
  HOTARU_CHECK(running.exchange(false), "the profiler is not running");
  detail::watchers.fetch_sub(1);
  return std::move(records());
}

namespace detail {

bool profiling() {
  return running.load(std::memory_order_relaxed);
}

void run_recorded(const KernelCall& call, DeviceType type, int64_t stream) {
  if (!profiling()) return call.run(type);
  const int64_t start = now();
  call.run(type);
  CallRecord record{&call.kernel(), stream, gettid(), start, now() - start, {}};
  if (with_shapes)
    for (const Operand& operand : call.operands())
      if (operand.ordered() && !operand.object)
        record.shapes.emplace_back(operand.tensor->sizes());
  const std::lock_guard lock(mutex);
  if (running) records().push_back(std::move(record));
}

}  // namespace detail

}  // namespace hotaru
