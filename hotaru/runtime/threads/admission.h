// Whole calls are admitted in order of arrival, as many at a time as there are
// cores. With more callers than cores the system would else cut calls into time
// slices of milliseconds, and a short call would wait for many of them.
//
// A call is what a thread asks for from outside: a replay of a graph, a run of
// a TorchScript program. Calls within a call need no place of their own, and
// the pool's workers none at all. While it is off, admission costs a load, and
// two while there are no more calling threads than cores.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

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

  /// `places`: calls that may run at a time.
  explicit Admission(int places,
                     std::chrono::milliseconds patience = kPatience);
  /// No thread is amid a call.
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  /// Of the process's scheduler.
  static Admission& instance();

  /// Off, calls never wait: so it is at first, unless the environment's
  /// HOTARU_ADMISSION is "on". Order costs throughput: each call may be another
  /// thread's, whose working memory is in no cache.
  void set_ordered(bool ordered);
  bool ordered() const { return ordered_.load(std::memory_order_relaxed); }

  /// Calls that have a place, and those that wait for one.
  int running() const { return state_.load().running; }
  int waiting() const { return state_.load().waiting; }

 private:
  friend class AdmittedCall;
  friend class AdmissionPause;
  friend struct detail::Caller;
  using Caller = detail::Caller;
  using Clock = std::chrono::steady_clock;
  struct State {
    int32_t running = 0, waiting = 0;
  };

  void enter(Caller& caller);
  void leave(Caller& caller);
  void resume(Caller& caller);

  void adopt(Caller& caller);
  void forget(Caller& caller);
  bool take_free_place();
  void wait_in_line(Caller& caller);
  // With the lock held:
  /// `processor`: one that the calling thread is about to leave, or -1.
  void admit_waiting(int processor = -1);
  void lend_places();

  const int places_;
  const std::chrono::milliseconds patience_;
  std::atomic<State> state_{};
  std::atomic<int> callers_{0};  // living threads that called while it was on
  std::atomic<bool> ordered_;
  std::mutex mutex_;  // guards what follows; `waiting` changes under it alone
  Caller* first_ = nullptr;  // in line
  Caller* last_ = nullptr;
  Caller* known_ = nullptr;   // all callers
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
