// Whole calls are admitted in order of arrival, as many at a time as there are
// cores. With more callers than cores the system would else cut calls into time
// slices of milliseconds, and a short call would wait for many of them.
//
// A call is what a thread asks for from outside: a replay of a graph, a run of
// a TorchScript program, the outermost call of a module in Python, whose lock
// is let go of while it waits (runtime/threads/blocking.h). Calls within a call
// need no place of their own, and the pool's workers none at all. Whoever is
// admitted gets the processor of the one that leaves, and its working memory,
// which is in that one's caches; so order costs a switch of threads a call, and
// nothing else. Off, admission costs a load, and three while there are no more
// calling threads than cores.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hotaru/runtime/threads/working_memory.h"

namespace hotaru {

namespace detail {
struct Caller;
}

/// The places of a process: one object, the scheduler's. Thread-safe.
class Admission {
 public:
  /// A place that is taken by a thread which for this long used next to no
  /// processor time is lent to the first in line: whatever the thread waits
  /// for, a call that waits here may be it.
  static constexpr std::chrono::milliseconds kPatience{5};
  /// Calls of threads whose calls are shorter need no place: a line would cost
  /// as much, and the system seldom interrupts one.
  static constexpr std::chrono::microseconds kShort{50};

  /// `places`: calls that may run at a time.
  explicit Admission(int places, std::chrono::milliseconds patience = kPatience,
                     std::chrono::microseconds shortest = kShort);
  /// No thread is amid a call.
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  /// Admission of the process's scheduler.
  static Admission& instance();

  /// Off, calls never wait. On at first, unless the environment's
  /// HOTARU_ADMISSION is "off".
  void set_ordered(bool ordered);
  bool ordered() const { return ordered_.load(std::memory_order_relaxed); }

  /// The calling thread is known as one that calls, as after a call.
  void note_caller();
  /// True if there are more of those than places, so that order matters.
  bool crowded() const {
    return ordered() && callers_.load(std::memory_order_relaxed) > places_;
  }

  /// Calls that have a place, and those that wait for one.
  int running() const { return state_.load().running; }
  int waiting() const { return state_.load().waiting; }

 private:
  friend class AdmittedCall;
  friend class AdmissionPause;
  friend struct detail::Caller;
  using Caller = detail::Caller;
  using Clock = std::chrono::steady_clock;
  class Locked;
  struct State {
    int32_t running = 0, waiting = 0;
  };

  void enter(Caller& caller);
  /// `ends`: the call does, or else it waits for something.
  void leave(Caller& caller, bool ends);
  void resume(Caller& caller);

  void adopt(Caller& caller);
  void forget(Caller& caller);
  bool take_free_place();
  void add_running(int change);
  void occupy(Caller& caller, int processor);
  std::atomic<int>& holders(int processor) {
    return holders_[size_t(processor) % holders_.size()];
  }
  void let_others_in(Caller& caller);
  void wait_in_line(Caller& caller);
  // With the lock held:
  /// False if there was a place at once.
  bool join_line(Caller& caller);
  void wait_for_place(Locked& locked, Caller& caller);
  /// `processor`: one that the calling thread is about to leave, or -1.
  void admit_waiting(Locked& locked, int processor = -1);
  void lend_places();
  /// The calling thread's working memory, for whoever comes next.
  void leave_memory();

  const int places_;
  const std::chrono::milliseconds patience_;
  const std::chrono::microseconds shortest_;
  std::atomic<State> state_{};
  std::array<std::atomic<int>, 64> holders_{};  // of places, by processor
  std::atomic<int> callers_{0};  // living threads that called while it was on
  std::atomic<bool> ordered_;
  std::mutex mutex_;  // guards what follows; `waiting` changes under it alone
  Caller* first_ = nullptr;  // in line
  Caller* last_ = nullptr;
  Caller* known_ = nullptr;  // all callers
  // Memory of those who wait: the last is in some processor's caches.
  std::vector<std::unique_ptr<WorkingMemory>> spare_;
  int lent_ = 0;              // places beyond places_, while somebody waits
  Clock::time_point looked_;  // when somebody last looked, or the line began
  bool has_looked_ = false;   // while there is this line
};

/// A scope that is one call: its thread's outermost one waits for a place.
class AdmittedCall {
 public:
  AdmittedCall();
  explicit AdmittedCall(Admission& admission);
  ~AdmittedCall();
  AdmittedCall(const AdmittedCall&) = delete;
  AdmittedCall& operator=(const AdmittedCall&) = delete;

  /// This thread's calls need no places from now on: a worker's.
  static void exempt_thread();

 private:
  detail::Caller& caller_;
};

/// A scope in which this thread may wait for something: others get its place.
/// At the end it goes on at once, beside those who have one.
class AdmissionPause {
 public:
  AdmissionPause();
  ~AdmissionPause();
  AdmissionPause(const AdmissionPause&) = delete;
  AdmissionPause& operator=(const AdmissionPause&) = delete;

 private:
  Admission* left_ = nullptr;
};

}  // namespace hotaru
