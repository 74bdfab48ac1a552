#include "hotaru/backend/soft_gpu/machine.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "hotaru/backend/soft_gpu/fault.h"
#include "hotaru/backend/soft_gpu/graph.h"
#include "hotaru/backend/soft_gpu/grid.h"

using namespace hotaru::cuda;

namespace hotaru::soft_gpu {
namespace {

/// So many operations are pending at most before the executor begins.
constexpr uint64_t kMostPending = 64;
/// How often it is asked whether other processes have come.
constexpr std::chrono::microseconds kRound{50};

std::atomic<Machine*> the_machine{nullptr};
std::atomic<bool> forked{false};
std::mutex making;
thread_local bool this_is_executor = false;

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  char* end = nullptr;
  const unsigned long long number = text ? std::strtoull(text, &end, 10) : 0;
  return text && end != text ? number : otherwise;
}

/// N of HOTARU_CUDA_DRIVER=soft:N, else one.
int devices_wanted() {
  const char* text = std::getenv("HOTARU_CUDA_DRIVER");
  if (!text || !std::string_view(text).starts_with("soft:")) return 1;
  return std::clamp(std::atoi(text + 5), 1, kMaxDevices);
}

/// Handlers of the process's signals shall not run on the executor's stacks.
void keep_signals_away() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    sigdelset(&signals, fault);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

Machine::Machine()
    : memory(number_from("HOTARU_SOFT_GPU_MEMORY", uint64_t{8} << 30)),
      random_(number_from("HOTARU_SOFT_GPU_SEED", 20260)),
      delay_(number_from("HOTARU_SOFT_GPU_DELAY_US", 1000)) {
  const int count = devices_wanted();
  for (int i = 0; i < count; ++i) {
    Device& device = devices.emplace_back();
    device.context.device = i;
    device.legacy = std::make_shared<CUstream_st>();
    device.legacy->device = i;
    device.legacy->legacy = true;
  }
}

StreamPtr Machine::find(CUstream handle, int device) const {
  // 0 and CU_STREAM_LEGACY.
  if (reinterpret_cast<uintptr_t>(handle) <= 1) return devices[device].legacy;
  const auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second;
}

void Machine::start() {
  started_ = true;
  std::thread([this] { execute(); }).detach();
}

void Machine::enqueue(const StreamPtr& stream, Operation operation) {
  if (stream->capture) return stream->capture->add(std::move(operation));
  operation.number = ++last_number_;
  if (operation.does) {
    operation.does->device = stream->device;
    operation.does->stream = stream->number;
    operation.activity = begin_activity(*operation.does);
  }
  if (stream->operations.empty()) active_.push_back(stream);
  stream->operations.push_back(std::move(operation));
  ++pending_;
  if (!started_) start();
  if (!alarm_) {
    alarm_ = Clock::now() + delay_;
    work_.notify_one();
  } else if (pending_ > kMostPending) {
    work_.notify_one();
  }
}

void Machine::wait(Lock& lock, const std::function<bool()>& done) {
  if (done()) return;
  waiting_.push_back(&done);
  work_.notify_one();
  progress_.wait(lock, done);
  std::erase(waiting_, &done);
}

void Machine::wait_for_stream(Lock& lock, const StreamPtr& stream) {
  const uint64_t until = last_number_;
  wait(lock, [&] {
    return stream->operations.empty() ||
           stream->operations.front().number > until;
  });
}

void Machine::wait_for_device(Lock& lock, int device) {
  const uint64_t until = last_number_;
  wait(lock, [&] {
    return std::none_of(active_.begin(), active_.end(),
                        [&](const auto& stream) {
                          return stream->device == device &&
                                 stream->operations.front().number <= until;
                        });
  });
}

bool Machine::idle(const StreamPtr& stream) const {
  // The legacy stream stands for the blocking ones, too.
  return std::none_of(active_.begin(), active_.end(), [&](const auto& other) {
    return other == stream || (stream->legacy && other->blocking() &&
                               other->device == stream->device);
  });
}

void Machine::nudge() {
  allowed_ = std::max<uint64_t>(allowed_, 1 + last_number_ % 3);
  work_.notify_one();
}

bool Machine::wanted() const {
  return pending_ != 0 &&
         (allowed_ != 0 || pending_ > kMostPending ||
          (alarm_ && Clock::now() >= *alarm_) ||
          std::any_of(waiting_.begin(), waiting_.end(),
                      [](const auto* done) { return !(*done)(); }));
}

bool Machine::runnable(const CUstream_st& stream) const {
  const Operation& next = stream.operations.front();
  if (next.awaits && !next.awaits->done) return false;
  if (next.ready && !next.ready()) return false;
  if (stream.legacy) {
    return std::none_of(active_.begin(), active_.end(), [&](const auto& other) {
      return other->device == stream.device && other->blocking() &&
             other->operations.front().number < next.number;
    });
  }
  const auto& legacy = devices[stream.device].legacy->operations;
  return !stream.blocking() || legacy.empty() ||
         legacy.front().number > next.number;
}

bool Machine::waits_for_others() const {
  return std::any_of(active_.begin(), active_.end(), [](const auto& stream) {
    return bool(stream->operations.front().ready);
  });
}

StreamPtr Machine::pick() {
  if (active_.empty()) return nullptr;
  const size_t first = random_.below(active_.size());
  for (size_t i = 0; i < active_.size(); ++i) {
    const StreamPtr& stream = active_[(first + i) % active_.size()];
    if (runnable(*stream)) return stream;
  }
  return nullptr;
}

void Machine::run_one(Lock& lock, const StreamPtr& stream) {
  Operation& operation = stream->operations.front();
  Device& device = devices[stream->device];
  if (operation.callback) {
    const auto callback = std::move(operation.callback);
    const CUresult error = device.error;
    lock.unlock();
    callback(error);
    lock.lock();
  } else if (operation.run && device.error == CUDA_SUCCESS) {
    // Kernels that were set up early have no memory before they have waited.
    const bool early = operation.must_wait;
    memory.open(early ? kNobodys : operation.opens);
    on_first_wait(!early
                      ? nullptr
                      : std::function<void()>([this, opens = operation.opens] {
                          const Lock inner(mutex);
                          memory.open(opens);
                        }));
    const auto run = std::move(operation.run);
    const std::shared_ptr<Activity> activity = std::move(operation.activity);
    lock.unlock();
    const Clock::time_point begin = Clock::now();
    CUresult error = run();
    if (error == CUDA_SUCCESS && early && !all_waited())
      error = CUDA_ERROR_ILLEGAL_INSTRUCTION;
    if (activity) end_activity(*activity, begin);
    lock.lock();
    if (device.error == CUDA_SUCCESS) device.error = error;
  }
  // The operation stood at the front meanwhile: that is how streams that order
  // themselves by it know that it is not done.
  Operation& done = stream->operations.front();
  if (done.records) {
    done.records->time = Clock::now();
    done.records->done = true;
  }
  stream->operations.pop_front();
  if (stream->operations.empty()) std::erase(active_, stream);
  --pending_;
  if (allowed_ != 0) --allowed_;
  if (!waiting_.empty()) progress_.notify_all();
}

void Machine::execute() {
  this_is_executor = true;
  keep_signals_away();
  Lock lock(mutex);
  for (;;) {
    while (!wanted())
      if (alarm_)
        work_.wait_until(lock, *alarm_);
      else
        work_.wait(lock);
    {
      const FaultHandlers handlers;
      while (wanted()) {
        const StreamPtr stream = pick();
        if (!stream) break;
        run_one(lock, stream);
      }
      memory.open(kNobodys);
    }
    allowed_ = 0;
    if (pending_ == 0) alarm_.reset();
    // No other process tells this one.
    if (wanted() && waits_for_others()) work_.wait_for(lock, kRound);
  }
}

Machine* machine() {
  return forked.load(std::memory_order_relaxed)
             ? nullptr
             : the_machine.load(std::memory_order_acquire);
}

bool make_machine() {
  if (forked.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(making);
  if (!the_machine.load(std::memory_order_relaxed)) {
    pthread_atfork(nullptr, nullptr,
                   [] { forked.store(true, std::memory_order_relaxed); });
    // Never destroyed: its thread works until the process ends.
    the_machine.store(new Machine, std::memory_order_release);
  }
  return true;
}

bool on_executor() {
  return this_is_executor;
}

}  // namespace hotaru::soft_gpu
