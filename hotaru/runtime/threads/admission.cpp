#include "hotaru/runtime/threads/admission.h"

#include <array>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "hotaru/platform/cpu_relax.h"
#include "hotaru/runtime/threads/blocking.h"
#include "hotaru/runtime/threads/caller.h"
#include "hotaru/runtime/threads/placement.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {

/// The lock, and whom to wake when it is released: woken before, a thread would
/// take the processor only to wait for the lock.
class Admission::Locked {
 public:
  explicit Locked(Admission& admission)
      : lock_(admission.mutex_, std::defer_lock) {
    lock();
  }
  ~Locked() {
    if (lock_) release();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  void wake(Caller& caller) {
    caller.bell.announce();
    if (count_ == woken_.size()) return detail::Bell::wake(&caller.bell);
    woken_[count_++] = &caller.bell;
  }
  void release() {
    lock_.unlock();
    while (count_ > 0) detail::Bell::wake(woken_[--count_]);
  }
  /// It is held for a microsecond; a processor that sleeps takes twenty to
  /// wake.
  void lock() {
    for (int i = 0; i < 100; ++i) {
      if (lock_.try_lock()) return;
      platform::cpu_relax();
    }
    lock_.lock();
  }

 private:
  std::unique_lock<std::mutex> lock_;
  std::array<detail::Bell*, 4> woken_;
  size_t count_ = 0;
};

namespace {

/// While it lives, this thread counts as one that needs a processor, so that no
/// worker takes it.
struct Counted {
  Counted() { Scheduler::instance().count_waiting_callers(1); }
  ~Counted() { Scheduler::instance().count_waiting_callers(-1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

thread_local detail::Caller this_caller;

bool ordered_at_first() {
  const char* text = std::getenv("HOTARU_ADMISSION");
  return !text || std::string_view(text) != "off";
}

}  // namespace

Admission::Admission(int places, std::chrono::milliseconds patience,
                     std::chrono::microseconds shortest)
    : places_(places),
      patience_(patience),
      shortest_(shortest),
      ordered_(ordered_at_first()) {}

Admission::~Admission() {
  const std::lock_guard lock(mutex_);
  for (Caller* c = known_; c; c = c->next_known) c->owner = nullptr;
}

Admission& Admission::instance() {
  return Scheduler::instance().admission();
}

void Admission::set_ordered(bool ordered) {
  Locked locked(*this);
  ordered_.store(ordered);
  admit_waiting(locked);
}

void Admission::adopt(Caller& caller) {
  if (caller.is_known()) caller.owner->forget(caller);
  const std::lock_guard lock(mutex_);
  caller.owner = this;
  caller.process = fork_count();
  caller.holds.store(false);
  caller.lends = false;
  caller.on = -1;
  caller.clock = platform::ThreadClock::of_this_thread();
  caller.next_known = known_;
  known_ = &caller;
  callers_.fetch_add(1);
}

void Admission::forget(Caller& caller) {
  const std::lock_guard lock(mutex_);
  Caller** at = &known_;
  while (*at != &caller) at = &(*at)->next_known;
  *at = caller.next_known;
  caller.owner = nullptr;
  callers_.fetch_sub(1);
}

bool Admission::take_free_place() {
  State s = state_.load();
  while (s.waiting == 0 && s.running < places_)
    if (state_.compare_exchange_weak(s, {s.running + 1, 0})) return true;
  return false;
}

void Admission::add_running(int change) {
  State s = state_.load();
  while (!state_.compare_exchange_weak(s, {s.running + change, s.waiting})) {
  }
}

void Admission::occupy(Caller& caller, int processor) {
  caller.on = processor;
  if (processor >= 0) ++holders(processor);
}

void Admission::note_caller() {
  Caller& caller = this_caller;
  if (!ordered() || caller.depth > 0) return;
  if (caller.owner != this || !caller.is_known()) adopt(caller);
}

void Admission::enter(Caller& caller) {
  if (!ordered()) return;
  if (caller.owner != this || !caller.is_known()) adopt(caller);
  if (!crowded()) return;
  caller.begin(Clock::now());
  if (caller.usual < shortest_) return;
  if (!take_free_place()) wait_in_line(caller);
  if (caller.on < 0) occupy(caller, detail::current_processor());
  caller.holds.store(true, std::memory_order_relaxed);
}

bool Admission::join_line(Caller& caller) {
  State s = state_.load();
  // A place that came free meanwhile has no one who would hand it on.
  while (true) {
    const bool free = s.waiting == 0 && s.running < places_;
    const State next =
        free ? State{s.running + 1, 0} : State{s.running, s.waiting + 1};
    if (!state_.compare_exchange_weak(s, next)) continue;
    if (free) return false;
    break;
  }
  if (!first_) {
    looked_ = Clock::now();
    has_looked_ = false;
  }
  (first_ ? last_->next_in_line : first_) = &caller;
  last_ = &caller;
  caller.next_in_line = nullptr;
  return true;
}

void Admission::wait_in_line(Caller& caller) {
  const BlockingRegion host;
  caller.processor.begin();
  {
    Locked locked(*this);
    if (!join_line(caller)) return;
    const Counted counted;
    leave_memory();
    wait_for_place(locked, caller);
  }
  WorkingMemory::give(std::move(caller.memory));
  caller.processor.end();
}

void Admission::wait_for_place(Locked& locked, Caller& caller) {
  // In a long line whoever comes later looks later: not all are awake at once.
  const int turns = 1 + state_.load().waiting / (8 * places_);
  while (true) {
    admit_waiting(locked);
    if (caller.holds.load()) return;
    const uint32_t seen = caller.bell.rings();
    locked.release();
    const bool rang = caller.bell.wait(seen, turns * patience_);
    if (caller.holds.load()) return;  // it was alone with this
    locked.lock();
    if (!rang) lend_places();
  }
}

void Admission::admit_waiting(Locked& locked, int processor) {
  State s = state_.load();
  while (s.waiting > 0 && (s.running < places_ + lent_ || !ordered())) {
    if (!state_.compare_exchange_weak(s, {s.running + 1, s.waiting - 1}))
      continue;
    Caller& next = *first_;
    first_ = next.next_in_line;
    next.on = -1;
    // Where another one has a place, the system finds a better processor.
    const int free = std::exchange(processor, -1);
    if (free >= 0 && holders(free) == 0) {
      next.processor.bind(free);
      occupy(next, free);
    }
    if (!spare_.empty()) {
      next.memory = std::move(spare_.back());
      spare_.pop_back();
    }
    next.holds.store(true);  // from now on it may go on
    locked.wake(next);
    s = state_.load();
  }
  if (first_ || lent_ == 0) return;
  lent_ = 0;
  for (Caller* c = known_; c; c = c->next_known) c->lends = false;
}

void Admission::lend_places() {
  const Clock::time_point now = Clock::now();
  const auto passed = std::chrono::nanoseconds(now - looked_).count();
  if (now - looked_ < patience_) return;  // somebody else did
  const bool compares = has_looked_;
  looked_ = now;
  has_looked_ = true;
  lent_ = 0;
  for (Caller* c = known_; c; c = c->next_known) {
    const int64_t used = c->processor_time();
    c->lends = compares && c->holds.load() && used - c->used < passed / 4;
    c->used = used;
    lent_ += c->lends;
  }
}

void Admission::leave(Caller& caller, bool ends) {
  caller.holds.store(false, std::memory_order_relaxed);
  const int processor = std::exchange(caller.on, -1);
  if (processor >= 0) --holders(processor);
  State s = state_.load();
  while (s.waiting == 0)
    if (state_.compare_exchange_weak(s, {s.running - 1, 0}))
      return ends ? let_others_in(caller) : void();
  const Counted counted;
  Locked locked(*this);
  if (caller.lends) {
    caller.lends = false;
    --lent_;
  }
  add_running(-1);
  if (ends) leave_memory();
  admit_waiting(locked, processor);
}

void Admission::leave_memory() {
  auto memory = WorkingMemory::take();
  if (memory && spare_.size() < 2 * size_t(places_))
    spare_.push_back(std::move(memory));
}

void Admission::let_others_in(Caller& caller) {
  // Whoever calls at once again may be ahead of threads that are awake, on
  // their way to the line and without a processor.
  constexpr std::chrono::microseconds kUnnoticed{200};
  if (!caller.prompt || caller.ended - caller.yielded < kUnnoticed) return;
  const Counted counted;
  std::this_thread::yield();
  caller.yielded = caller.ended;
}

void Admission::resume(Caller& caller) {
  add_running(1);
  occupy(caller, detail::current_processor());
  caller.holds.store(true, std::memory_order_relaxed);
}

AdmittedCall::AdmittedCall() : caller_(this_caller) {
  if (caller_.depth++ == 0) Admission::instance().enter(caller_);
}

AdmittedCall::AdmittedCall(Admission& admission) : caller_(this_caller) {
  if (caller_.depth++ == 0) admission.enter(caller_);
}

AdmittedCall::~AdmittedCall() {
  if (--caller_.depth > 0) return;
  if (caller_.began != detail::Caller::Clock::time_point{})
    caller_.end(detail::Caller::Clock::now());
  if (!caller_.holds.load(std::memory_order_relaxed)) return;
  if (caller_.is_known()) caller_.owner->leave(caller_, true);
}

void AdmittedCall::exempt_thread() {
  ++this_caller.depth;
}

AdmissionPause::AdmissionPause() {
  detail::Caller& caller = this_caller;
  if (!caller.holds.load(std::memory_order_relaxed) || !caller.is_known())
    return;
  left_ = caller.owner;
  left_->leave(caller, false);
}

AdmissionPause::~AdmissionPause() {
  if (left_ && this_caller.is_known()) left_->resume(this_caller);
}

}  // namespace hotaru
