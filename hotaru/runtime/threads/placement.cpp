#include "hotaru/runtime/threads/placement.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>

namespace hotaru::detail {
namespace {

// Tasks by the processor they started on; a hint, as the kernel may move them.
constinit std::array<std::atomic<int>, CPU_SETSIZE> tasks{};

bool occupied(int processor) {
  return tasks[size_t(processor)].load(std::memory_order_relaxed) > 0;
}

/// Tells whether this thread may move now; asks once a millisecond.
bool may_move_now() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{1};
  thread_local Clock::time_point earliest;
  const Clock::time_point now = Clock::now();
  if (now < earliest) return false;
  earliest = now + kPause;
  return true;
}

/// Moves this thread to one of the processors it may use for which wanted()
/// holds. Whether there was one.
template <class Wanted>
bool move(const Wanted& wanted) {
  cpu_set_t allowed, chosen;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return false;
  CPU_ZERO(&chosen);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &allowed) && wanted(i)) CPU_SET(i, &chosen);
  if (CPU_COUNT(&chosen) == 0) return false;
  if (sched_setaffinity(0, sizeof(chosen), &chosen) == 0)
    sched_setaffinity(0, sizeof(allowed), &allowed);
  return true;
}

}  // namespace

int current_processor() {
  const int processor = sched_getcpu();
  return processor < CPU_SETSIZE ? processor : -1;
}

void leave_processor(int processor) {
  if (processor < 0 || processor != current_processor()) return;
  if (may_move_now()) move([&](int other) { return other != processor; });
}

void WokenHere::begin() {
  static_assert(sizeof(cpu_set_t) == sizeof(allowed_));
  if (thread_ == 0) thread_ = int(syscall(SYS_gettid));
  bound_ = false;
  known_ =
      sched_getaffinity(0, sizeof(cpu_set_t),
                        reinterpret_cast<cpu_set_t*>(allowed_.data())) == 0;
}

void WokenHere::bind(int processor) {
  if (processor < 0 || !known_ ||
      !CPU_ISSET(processor,
                 reinterpret_cast<const cpu_set_t*>(allowed_.data())))
    return;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(processor, &chosen);
  bound_ |= sched_setaffinity(thread_, sizeof(chosen), &chosen) == 0;
}

void WokenHere::end() {
  if (bound_)
    sched_setaffinity(0, sizeof(cpu_set_t),
                      reinterpret_cast<const cpu_set_t*>(allowed_.data()));
}

void forget_tasks() {
  for (std::atomic<int>& count : tasks) count = 0;
}

Placed::Placed(bool may_move, int launcher) : processor_(current_processor()) {
  if (processor_ < 0) return;
  const bool shared = occupied(processor_);
  if (may_move && (shared || processor_ == launcher) && may_move_now()) {
    const auto free = [&](int i) { return i != launcher && !occupied(i); };
    if (move(free) || (shared && move([](int i) { return !occupied(i); })))
      processor_ = current_processor();
  }
  tasks[size_t(processor_)].fetch_add(1, std::memory_order_relaxed);
}

Placed::~Placed() {
  if (processor_ >= 0)
    tasks[size_t(processor_)].fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace hotaru::detail

#else  // elsewhere threads stay where the system puts them

namespace hotaru::detail {
int current_processor() {
  return -1;
}
void leave_processor(int) {}
void forget_tasks() {}
void WokenHere::begin() {}
void WokenHere::bind(int) {}
void WokenHere::end() {}
Placed::Placed(bool, int) : processor_(-1) {}
Placed::~Placed() = default;
}  // namespace hotaru::detail

#endif
