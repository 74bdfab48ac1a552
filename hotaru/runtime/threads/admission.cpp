#include "hotaru/runtime/threads/admission.h"

#include <pthread.h>
#include <time.h>

#include <condition_variable>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "hotaru/core/mutex.h"
#include "hotaru/runtime/threads/placement.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {

/// A thread that calls. Its own, but for what the lock of its owner guards.
struct detail::Caller {
  Admission* owner = nullptr;
  uint32_t process = 0;  // fork_count() when it was made known
  int depth = 0;
  std::atomic<bool> holds{false};

  // By the lock:
  Caller *next_known = nullptr, *next_in_line = nullptr;
  std::condition_variable admitted;
  bool lends = false;  // counted in lent_
  Waking waking;       // its own while it is awake
  clockid_t clock{};
  int64_t used = 0;  // processor time when somebody last looked, in ns

  ~Caller() {
    if (is_known()) owner->forget(*this);
  }
  /// After a fork the parent's admission is no longer anybody's.
  bool is_known() const { return owner && process == hotaru::fork_count(); }

  int64_t processor_time() const {
    timespec t{};
    if (clock_gettime(clock, &t) != 0) return 0;
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  }
};

namespace {

thread_local detail::Caller this_caller;

bool ordered_at_first() {
  const char* text = std::getenv("HOTARU_ADMISSION");
  return text && std::string_view(text) == "on";
}

}  // namespace

Admission::Admission(int places, std::chrono::milliseconds patience)
    : places_(places), patience_(patience), ordered_(ordered_at_first()) {}

Admission::~Admission() {
  const std::lock_guard lock(mutex_);
  for (Caller* c = known_; c; c = c->next_known) c->owner = nullptr;
}

Admission& Admission::instance() {
  return Scheduler::instance().admission();
}

void Admission::set_ordered(bool ordered) {
  const std::lock_guard lock(mutex_);
  ordered_.store(ordered);
  admit_waiting();
}

void Admission::adopt(Caller& caller) {
  if (caller.is_known()) caller.owner->forget(caller);
  const std::lock_guard lock(mutex_);
  caller.owner = this;
  caller.process = fork_count();
  caller.holds.store(false);
  caller.lends = false;
  if (pthread_getcpuclockid(pthread_self(), &caller.clock) != 0)
    caller.clock = CLOCK_MONOTONIC;  // then it never seems to wait
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

void Admission::enter(Caller& caller) {
  if (!ordered()) return;
  if (caller.owner != this || !caller.is_known()) adopt(caller);
  if (callers_.load(std::memory_order_relaxed) <= places_) return;
  if (take_free_place())
    caller.holds.store(true, std::memory_order_relaxed);
  else
    wait_in_line(caller);
}

void Admission::wait_in_line(Caller& caller) {
  caller.waking.begin();
  std::unique_lock lock(mutex_);
  State s = state_.load();
  // A place that came free meanwhile has no one who would hand it on.
  while (true) {
    const bool free = s.waiting == 0 && s.running < places_;
    const State next =
        free ? State{s.running + 1, 0} : State{s.running, s.waiting + 1};
    if (!state_.compare_exchange_weak(s, next)) continue;
    if (!free) break;
    caller.holds.store(true);
    return caller.waking.end();
  }
  if (!first_) {
    looked_ = Clock::now();
    has_looked_ = false;
  }
  (first_ ? last_->next_in_line : first_) = &caller;
  last_ = &caller;
  caller.next_in_line = nullptr;
  while (!caller.holds.load()) {
    if (!ordered()) {
      admit_waiting();
      continue;
    }
    // Whoever comes later looks later, so that a long line is not all awake.
    const int turns = 1 + s.waiting / places_;
    if (caller.admitted.wait_for(lock, turns * patience_) ==
        std::cv_status::timeout)
      lend_places();
  }
  lock.unlock();
  caller.waking.end();
}

void Admission::admit_waiting(int processor) {
  State s = state_.load();
  while (s.waiting > 0 && (s.running < places_ + lent_ || !ordered())) {
    if (!state_.compare_exchange_weak(s, {s.running + 1, s.waiting - 1}))
      continue;
    Caller& next = *first_;
    first_ = next.next_in_line;
    next.waking.bind(std::exchange(processor, -1));
    next.holds.store(true);
    next.admitted.notify_one();
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
  admit_waiting();
}

void Admission::leave(Caller& caller) {
  caller.holds.store(false, std::memory_order_relaxed);
  State s = state_.load();
  while (s.waiting == 0)
    if (state_.compare_exchange_weak(s, {s.running - 1, 0})) return;
  const std::lock_guard lock(mutex_);
  if (caller.lends) {
    caller.lends = false;
    --lent_;
  }
  s = state_.load();
  while (!state_.compare_exchange_weak(s, {s.running - 1, s.waiting})) {
  }
  admit_waiting(detail::current_processor());
}

void Admission::resume(Caller& caller) {
  State s = state_.load();
  while (!state_.compare_exchange_weak(s, {s.running + 1, s.waiting})) {
  }
  caller.holds.store(true, std::memory_order_relaxed);
}

AdmittedCall::AdmittedCall() : caller_(this_caller) {
  if (caller_.depth++ == 0) Admission::instance().enter(caller_);
}

AdmittedCall::AdmittedCall(Admission& admission) : caller_(this_caller) {
  if (caller_.depth++ == 0) admission.enter(caller_);
}

AdmittedCall::~AdmittedCall() {
  if (--caller_.depth > 0 || !caller_.holds.load(std::memory_order_relaxed))
    return;
  if (caller_.is_known()) caller_.owner->leave(caller_);
}

void AdmittedCall::exempt_thread() {
  ++this_caller.depth;
}

AdmissionPause::AdmissionPause() {
  detail::Caller& caller = this_caller;
  if (!caller.holds.load(std::memory_order_relaxed) || !caller.is_known())
    return;
  left_ = caller.owner;
  left_->leave(caller);
}

AdmissionPause::~AdmissionPause() {
  if (left_ && this_caller.is_known()) left_->resume(this_caller);
}

}  // namespace hotaru
