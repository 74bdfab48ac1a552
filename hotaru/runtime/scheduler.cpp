#include "hotaru/runtime/scheduler.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>

#include "hotaru/core/error.h"
#include "hotaru/runtime/cpu_count.h"
#include "hotaru/runtime/parallel.h"

namespace hotaru {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// A worker's patience doubles when spinning finds work and halves when it does
// not, so a burst of small regions meets awake workers and an idle process
// soon stops spinning.
constexpr microseconds kMinSpin{4};
constexpr microseconds kMaxSpin{64};
// A caller whose last chunk is in a worker's hands waits this long awake.
constexpr microseconds kJoinSpin{64};
constexpr int kPausesPerClockRead = 16;

std::atomic<Scheduler*> current{nullptr};

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Polls done() for at most the given time; returns whether it held.
template <class Done>
bool spin_until(microseconds limit, const Done& done) {
  for (int i = 0; i < kPausesPerClockRead; ++i) {
    if (done()) return true;
    cpu_relax();
  }
  const Clock::time_point end = Clock::now() + limit;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (done()) return true;
      cpu_relax();
    }
  } while (Clock::now() < end);
  return done();
}

constexpr uint64_t make_ticket(uint64_t generation, uint64_t chunks,
                               uint64_t next) {
  return generation << 32 | chunks << 16 | next;
}
constexpr uint64_t chunks_of(uint64_t ticket) {
  return ticket >> 16 & 0xffff;
}
constexpr uint64_t next_of(uint64_t ticket) {
  return ticket & 0xffff;
}

/// Takes the next chunk off a slot's ticket; -1 if none is left.
int64_t claim(std::atomic<uint64_t>& ticket) {
  uint64_t seen = ticket.load(std::memory_order_seq_cst);
  while (next_of(seen) < chunks_of(seen)) {
    if (ticket.compare_exchange_weak(seen, seen + 1,
                                     std::memory_order_acq_rel)) {
      return static_cast<int64_t>(next_of(seen));
    }
  }
  return -1;
}

/// The processor this thread runs on, or -1 if the system does not tell.
int current_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

/// Moves the calling thread off the given processor if it runs there. The
/// kernel sometimes wakes a worker beside its caller though another processor
/// is idle, and may leave both there for a long time.
void leave_processor(int processor) {
#if defined(__linux__)
  constexpr std::chrono::milliseconds kPause{1};
  thread_local Clock::time_point earliest;
  if (processor < 0 || processor != current_processor()) return;
  const Clock::time_point now = Clock::now();
  if (now < earliest) return;  // more threads than processors: do not insist
  earliest = now + kPause;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(processor, &others);
  if (CPU_COUNT(&others) == 0) return;
  if (sched_setaffinity(0, sizeof(others), &others) == 0) {
    sched_setaffinity(0, sizeof(allowed), &allowed);
  }
#endif
}

constexpr uint32_t kOwnerSleeps = 1u << 31;  // flag in Slot::unfinished

}  // namespace

struct Scheduler::Region {
  ChunkFn fn;
  void* context;
  std::atomic<bool> failed{false};
  std::exception_ptr error{};

  void execute(int64_t chunk) noexcept {
    detail::PositionGuard guard({static_cast<int>(chunk), true});
    try {
      fn(context, chunk);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
};

/// The slot a thread posts its regions on; kept until the thread ends, so that
/// posting costs one store.
struct ThreadSlot {
  Scheduler* owner = nullptr;
  Scheduler::Slot* slot = nullptr;
  bool busy = false;

  Scheduler::Slot* get(Scheduler& scheduler) {
    if (owner != &scheduler || slot == nullptr) {
      owner = &scheduler;
      busy = false;
      slot = scheduler.acquire_slot();
    }
    return busy ? nullptr : slot;
  }
  ~ThreadSlot() {
    // After a fork the parent's scheduler is no longer the current one.
    if (slot && owner == current.load()) owner->release_slot(slot);
  }
};

namespace {
thread_local ThreadSlot thread_slot;
}

Scheduler::Scheduler(int num_threads) : num_threads_(num_threads) {}

Scheduler& Scheduler::instance() {
  Scheduler* scheduler = current.load(std::memory_order_acquire);
  return scheduler ? *scheduler : create();
}

Scheduler& Scheduler::create() {
  // Never destroyed: threads may still use it while the process exits.
  static Scheduler* first = [] {
    int count = positive_env("MKL_NUM_THREADS");
    if (count == 0) count = positive_env("OMP_NUM_THREADS");
    if (count == 0) count = usable_physical_cores();
    auto* scheduler = new Scheduler(std::min(count, kMaxThreads));
    current.store(scheduler, std::memory_order_release);
    pthread_atfork(nullptr, nullptr, &Scheduler::replace_in_child);
    return scheduler;
  }();
  return *first;
}

void Scheduler::replace_in_child() {
  // The parent's workers and whatever its locks protected are gone here.
  current.store(new Scheduler(current.load()->num_threads()));
}

int Scheduler::num_threads() const {
  return num_threads_.load(std::memory_order_relaxed);
}

int Scheduler::num_workers() const {
  return workers_.load();
}

void Scheduler::set_num_threads(int count) {
  HOTARU_CHECK(count > 0, "Expected positive number of threads");
  num_threads_.store(std::min(count, kMaxThreads));
  if (workers_.load() > worker_limit()) wake(kMaxThreads);
}

int Scheduler::worker_limit() const {
  return std::max(num_threads() - 1, launched_.load() ? 1 : 0);
}

Scheduler::Slot* Scheduler::acquire_slot() {
  uint64_t used = used_slots_.load();
  while (~used != 0) {
    int index = std::countr_one(used);
    if (used_slots_.compare_exchange_weak(used, used | uint64_t{1} << index)) {
      return &slots_[index];
    }
  }
  return nullptr;  // more callers than slots: their regions run inline
}

void Scheduler::release_slot(Slot* slot) {
  used_slots_.fetch_and(~(uint64_t{1} << (slot - slots_.data())));
}

void Scheduler::run_chunks(int64_t chunks, ChunkFn fn, void* context) {
  HOTARU_CHECK(chunks >= 0 && chunks <= kMaxThreads, "run_chunks: ", chunks,
               " chunks, expected 0 to ", kMaxThreads);
  Region region{fn, context};
  Slot* slot = chunks > 1 ? thread_slot.get(*this) : nullptr;
  if (slot == nullptr) {
    for (int64_t i = 0; i < chunks; ++i) region.execute(i);
  } else {
    thread_slot.busy = true;
    const auto others = static_cast<uint32_t>(chunks - 1);
    slot->region = &region;
    slot->processor.store(current_processor(), std::memory_order_relaxed);
    slot->unfinished.store(others, std::memory_order_relaxed);
    uint64_t generation = (slot->ticket.load() >> 32) + 1;
    slot->ticket.store(make_ticket(generation, chunks, 1));
    ensure_workers(std::min<int>(others, num_threads() - 1));
    if (sleepers_.load() > 0) wake(others);

    region.execute(0);
    uint32_t taken_back = 0;
    for (int64_t i; (i = claim(slot->ticket)) >= 0; ++taken_back) {
      region.execute(i);
    }
    if (taken_back != others) {
      auto done = [&] {
        return slot->unfinished.load(std::memory_order_acquire) == taken_back;
      };
      if (!spin_until(kJoinSpin, done)) {
        uint32_t left = slot->unfinished.fetch_or(kOwnerSleeps) | kOwnerSleeps;
        while ((left & ~kOwnerSleeps) != taken_back) {
          slot->unfinished.wait(left);
          left = slot->unfinished.load(std::memory_order_acquire);
        }
      }
    }
    thread_slot.busy = false;
  }
  if (region.error) std::rethrow_exception(region.error);
}

void Scheduler::launch(Task& task) {
  launched_.store(true);
  ensure_workers(1);
  HOTARU_CHECK(workers_.load() > 0, "launch: the system has no more threads");
  {
    std::lock_guard lock(mutex_);
    task.next_ = nullptr;
    (last_ ? last_->next_ : first_) = &task;
    last_ = &task;
    queued_.fetch_add(1);
  }
  if (sleepers_.load() > 0) wake(1);
}

bool Scheduler::run_task() {
  if (queued_.load() == 0) return false;
  Task* task = nullptr;
  {
    std::lock_guard lock(mutex_);
    task = first_;
    if (task == nullptr) return false;
    first_ = task->next_;
    if (first_ == nullptr) last_ = nullptr;
    queued_.fetch_sub(1);
  }
  detail::PositionGuard guard({0, false});
  try {
    task->run();
  } catch (...) {  // documented at Task
  }
  return true;
}

bool Scheduler::run_something() {
  for (uint64_t left = used_slots_.load(); left != 0; left &= left - 1) {
    Slot& slot = slots_[std::countr_zero(left)];
    int64_t chunk = claim(slot.ticket);
    if (chunk < 0) continue;
    leave_processor(slot.processor.load(std::memory_order_relaxed));
    slot.region->execute(chunk);
    // The owner may leave its region from here on; the slot itself stays.
    uint32_t before = slot.unfinished.fetch_sub(1, std::memory_order_acq_rel);
    if (before & kOwnerSleeps) slot.unfinished.notify_all();
    return true;
  }
  return run_task();
}

template <class Stop>
void Scheduler::park(const Stop& stop) {
  uint32_t epoch = epoch_.load();
  // Announce first, look again second; posters publish first and look for
  // sleepers second, so one of both sees the other.
  sleepers_.fetch_add(1);
  bool found = stop() || run_something();
  if (!found) epoch_.wait(epoch);
  sleepers_.fetch_sub(1);
}

void Scheduler::wake(int64_t count) {
  epoch_.fetch_add(1);
  if (count >= sleepers_.load()) {
    epoch_.notify_all();
  } else {
    for (; count > 0; --count) epoch_.notify_one();
  }
}

void Scheduler::ensure_workers(int wanted) {
  if (workers_.load(std::memory_order_relaxed) >= wanted) return;
  std::lock_guard lock(mutex_);
  // Signals belong to the application's threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  while (workers_.load() < std::min(wanted, worker_limit())) {
    int index = workers_.load();
    try {
      std::thread([this, index] { worker_main(index); }).detach();
    } catch (const std::system_error&) {
      break;  // fewer threads than wished; callers do the work themselves
    }
    workers_.store(index + 1);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

bool Scheduler::retire(int index) {
  if (index < worker_limit()) return false;
  std::unique_lock lock(mutex_);
  // Highest first, so that the indices of the living stay dense.
  if (index < worker_limit() || index != workers_.load() - 1) return false;
  workers_.store(index);
  lock.unlock();
  wake(kMaxThreads);
  return true;
}

void Scheduler::worker_main(int index) {
#if defined(__linux__)
  pthread_setname_np(pthread_self(), "hotaru-worker");
#endif
  microseconds patience = kMaxSpin;
  while (true) {
    if (spin_until(patience, [this] { return run_something(); })) {
      patience = std::min(patience * 2, kMaxSpin);
      continue;
    }
    patience = std::max(patience / 2, kMinSpin);
    if (retire(index)) return;
    park([&] { return index >= worker_limit() && index == num_workers() - 1; });
  }
}

void Scheduler::wait_until(StopFn stop, const void* context) {
  auto stopped = [&] { return stop(context); };
  auto progress = [&] { return stopped() || run_something(); };
  while (!stopped()) {
    if (!spin_until(kMinSpin, progress)) park(stopped);
  }
}

void Scheduler::notify() {
  // Read by an operation that writes, so that either this sees a thread that
  // announced its sleep or that thread sees what was written before.
  if (sleepers_.fetch_add(0) > 0) wake(kMaxThreads);
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
