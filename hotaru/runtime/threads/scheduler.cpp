#include "hotaru/runtime/threads/scheduler.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/platform/cpu_relax.h"
#include "hotaru/platform/fork.h"
#include "hotaru/platform/thread.h"
#include "hotaru/runtime/threads/admission.h"
#include "hotaru/runtime/threads/cpu_count.h"
#include "hotaru/runtime/threads/placement.h"
#include "hotaru/runtime/threads/pool.h"
#include "hotaru/runtime/threads/region.h"

namespace hotaru {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// A worker's patience doubles when spinning finds work and halves when it does
// not, so a burst of small regions meets awake workers and an idle process
// soon stops spinning. Who is woken so soon that the longest patience would
// have met the work has that from then on: regions of 20 us, 30 us apart, are
// over before a sleeper comes.
constexpr microseconds kMinSpin{4};
constexpr microseconds kMaxSpin{64};
constexpr int kPausesPerClockRead = 16;

std::atomic<Scheduler*> current{nullptr};
constinit thread_local bool runs_task = false;
constinit thread_local bool is_worker = false;

/// Polls done() for at most the given time; returns whether it held.
template <class Done>
bool spin_until(microseconds limit, const Done& done) {
  for (int i = 0; i < kPausesPerClockRead; ++i) {
    if (done()) return true;
    platform::cpu_relax();
  }
  const Clock::time_point end = Clock::now() + limit;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (done()) return true;
      platform::cpu_relax();
    }
  } while (Clock::now() < end);
  return done();
}

/// Where more threads compute than there are cores, the system lets each run
/// for some milliseconds, so that with sixteen callers a call of 0.1 ms now and
/// then takes 30. A caller that ran as long as this lets the others go first.
void take_turns() {
  constexpr microseconds kTurn{500};
  thread_local Clock::time_point start;
  const Clock::time_point now = Clock::now();
  if (now - start < kTurn) return;
  std::this_thread::yield();
  start = Clock::now();
}

}  // namespace

struct PoolTraits {
  template <class T>
  using Atomic = std::atomic<T>;
  template <class T>
  using Plain = T;
  using Mutex = std::mutex;
  using Region = detail::Region;
  using Task = hotaru::Task;

  static constexpr int kSlots = 64;
  // A caller whose last chunk is in a worker's hands waits this long awake.
  static constexpr microseconds kJoin = kMaxSpin;
  static constexpr microseconds kWait = kMinSpin;

  static void run_chunk(Region& region, int64_t chunk, bool stolen) {
    if (stolen) detail::leave_processor(region.processor);
    region.run_chunk(chunk);
  }
  static Task*& next(Task& task) { return task.next_; }
  static void run_task(Task& task) {
    const detail::PositionGuard guard({0, false});
    const detail::Placed placed(is_worker, task.launcher_);
    try {
      task.run();
    } catch (...) {  // documented at Task
    }
  }
  static bool& in_task() { return runs_task; }
  template <class Done>
  static bool spin_until(microseconds limit, const Done& done) {
    return hotaru::spin_until(limit, done);
  }
};

struct Scheduler::Core : Pool<PoolTraits> {
  using Pool::Pool;
};

/// The slot a thread offers its regions on; kept until the thread ends, so that
/// offering costs one store.
struct ThreadSlot {
  using Slot = Pool<PoolTraits>::Slot;
  Scheduler* owner = nullptr;
  Slot* slot = nullptr;
  bool busy = false;

  /// Null if there are more callers than slots.
  Slot* get(Scheduler& scheduler) {
    if (owner != &scheduler || slot == nullptr) {
      owner = &scheduler;
      busy = false;
      slot = scheduler.core_->acquire_slot();
    }
    return slot;
  }
  ~ThreadSlot() {
    // After a fork the parent's scheduler is no longer the current one.
    if (slot && owner == current.load()) owner->core_->release_slot(slot);
  }
};

namespace {
thread_local ThreadSlot thread_slot;
}

Scheduler::Scheduler(int num_threads, int task_limit, bool limit_was_set)
    : cores_(usable_physical_cores()),
      core_(std::make_unique<Core>(task_limit, std::max(cores_, num_threads))),
      admission_(std::make_unique<Admission>(cores_)),
      num_threads_(num_threads),
      task_limit_was_set_(limit_was_set) {}

Scheduler& Scheduler::instance() {
  Scheduler* scheduler = current.load(std::memory_order_acquire);
  return scheduler ? *scheduler : create();
}

Scheduler& Scheduler::create() {
  // Never destroyed: threads may still use it while the process exits.
  static Scheduler* first = [] {
    const int cores = usable_physical_cores();
    int count = thread_count_from_environment();
    if (count == 0) count = cores;
    auto* scheduler = new Scheduler(std::min(count, kMaxThreads), cores, false);
    current.store(scheduler, std::memory_order_release);
    platform::at_fork(nullptr, nullptr, &Scheduler::replace_in_child);
    return scheduler;
  }();
  return *first;
}

void Scheduler::replace_in_child() {
  // The parent's workers and whatever its locks protected are gone here.
  const Scheduler& parent = *current.load();
  runs_task = false;
  is_worker = false;
  detail::forget_tasks();
  current.store(new Scheduler(parent.num_threads(),
                              parent.num_interop_threads(),
                              parent.task_limit_was_set_));
}

int Scheduler::num_threads() const {
  return num_threads_.load(std::memory_order_relaxed);
}

int Scheduler::num_workers() const {
  return workers_.load();
}

int Scheduler::num_busy_workers() const {
  const int tasks = core_->running_tasks() - (runs_task ? 1 : 0);
  return std::clamp(tasks, 0, num_workers());
}

int Scheduler::num_interop_threads() const {
  return core_->task_limit();
}

void Scheduler::set_num_threads(int count) {
  HOTARU_CHECK(count > 0, "Expected positive number of threads");
  num_threads_.store(std::min(count, kMaxThreads));
  core_->set_width(std::max(cores_, num_threads()));
  if (workers_.load() > worker_limit()) core_->wake_workers();
}

void Scheduler::set_num_interop_threads(int count, bool force) {
  HOTARU_CHECK(count > 0, "Expected positive number of threads");
  {
    std::lock_guard lock(mutex_);
    HOTARU_CHECK(force || !(task_limit_was_set_ || launched_.load()),
                 "Error: cannot set number of interop threads after parallel "
                 "work has started or set_num_interop_threads called");
    task_limit_was_set_ = true;
    core_->set_task_limit(count);
  }
  if (launched_.load()) ensure_workers(worker_limit());
}

int Scheduler::worker_limit() const {
  const int for_tasks =
      launched_.load() ? std::min(num_interop_threads(), cores_) : 0;
  return std::min(std::max(num_threads() - 1, for_tasks), kMaxWorkers);
}

void Scheduler::run_chunks(int64_t chunks, ChunkFn fn, void* context) {
  HOTARU_CHECK(chunks >= 0 && chunks <= kMaxThreads, "run_chunks: ", chunks,
               " chunks, expected 0 to ", kMaxThreads);
  detail::Region region{fn, context};
  Core::Slot* slot = chunks > 1 ? thread_slot.get(*this) : nullptr;
  // A region inside of another one needs a slot of its own for a while.
  const bool nested = slot != nullptr && thread_slot.busy;
  if (nested) slot = core_->acquire_slot();
  if (slot == nullptr) {
    for (int64_t i = 0; i < chunks; ++i) region.run_chunk(i);
  } else {
    thread_slot.busy = true;
    region.processor = detail::current_processor();
    ensure_workers(int(std::min<int64_t>(chunks, num_threads()) - 1));
    core_->fork_join(*slot, region, chunks, in_parallel_region());
    if (nested) {
      core_->release_slot(slot);
    } else {
      thread_slot.busy = false;
      // Whoever waits for a place does so for the end of this call.
      if (core_->active() >= core_->width() && admission_->waiting() == 0)
        take_turns();
    }
  }
  region.rethrow();
}

void Scheduler::launch(Task& task) {
  prepare_launch();
  task.launcher_ = detail::current_processor();
  core_->launch(task);
}

void Scheduler::prepare_launch() {
  if (!launched_.load(std::memory_order_relaxed)) {
    std::lock_guard lock(mutex_);  // against set_num_interop_threads
    launched_.store(true);
  }
  ensure_workers(worker_limit());
  HOTARU_CHECK(workers_.load(std::memory_order_relaxed) > 0,
               "launch: the system has no more threads");
}

void Scheduler::wait_until(StopFn stop, const void* context) {
  if (stop(context)) return;
  const AdmissionPause pause;
  core_->wait_until([&] { return stop(context); });
}

void Scheduler::count_waiting_callers(int change) {
  core_->count_waiting(change);
}

bool Scheduler::has_tasks() const {
  return core_->has_tasks();
}

bool Scheduler::has_work() const {
  return core_->has_work();
}

void Scheduler::pause_awhile() {
  constexpr int kPauses = 24;
  for (int i = 0; i < kPauses; ++i) platform::cpu_relax();
}

void Scheduler::notify() {
  core_->notify();
}

void Scheduler::ensure_workers(int wanted) {
  if (workers_.load(std::memory_order_relaxed) >= wanted) return;
  std::lock_guard lock(mutex_);
  const platform::SignalsBlocked blocked;
  while (workers_.load() < std::min(wanted, worker_limit())) {
    int index = workers_.load();
    try {
      std::thread([this, index] { worker_main(index); }).detach();
    } catch (const std::system_error&) {
      break;  // fewer threads than wished; callers do the work themselves
    }
    workers_.store(index + 1);
  }
}

bool Scheduler::retire(int index) {
  if (index < worker_limit()) return false;
  std::unique_lock lock(mutex_);
  // Highest first, so that the indices of the living stay dense.
  if (index < worker_limit() || index != workers_.load() - 1) return false;
  workers_.store(index);
  lock.unlock();
  core_->wake_workers();  // the next lower one may have to end, too
  return true;
}

void Scheduler::worker_main(int index) {
  platform::name_this_thread("hotaru-worker");
  is_worker = true;
  AdmittedCall::exempt_thread();
  microseconds patience = kMaxSpin;
  while (true) {
    if (core_->search(patience, [] { return false; })) {
      patience = std::min(patience * 2, kMaxSpin);
      continue;
    }
    patience = std::max(patience / 2, kMinSpin);
    if (retire(index)) return;
    const Clock::time_point asleep = Clock::now();
    core_->park(
        [&] { return index >= worker_limit() && index == num_workers() - 1; });
    // Not workers beyond those of loops: they would take a caller's core.
    if (index < num_threads() - 1 && Clock::now() - asleep < kMaxSpin)
      patience = kMaxSpin;
  }
}

void Completion::set() {
  Scheduler& scheduler = Scheduler::instance();
  set_.store(true);
  // From here on a waiter may have destroyed this object.
  scheduler.notify();
}

void Completion::wait() {
  Scheduler::instance().wait_until([this] { return is_set(); });
}

}  // namespace hotaru
