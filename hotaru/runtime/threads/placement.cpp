#include "hotaru/runtime/threads/placement.h"

#include <array>
#include <atomic>
#include <chrono>

#include "hotaru/platform/thread.h"

namespace hotaru::detail {

using platform::ProcessorSet;

namespace {

// Tasks by the processor they started on; a hint, as the kernel may move them.
constinit std::array<std::atomic<int>, ProcessorSet::kMost> tasks{};

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
  ProcessorSet allowed, chosen;
  if (!platform::allowed_processors(allowed)) return false;
  for (int i = 0; i < ProcessorSet::kMost; ++i)
    if (allowed.has(i) && wanted(i)) chosen.add(i);
  if (chosen.count() == 0) return false;
  if (platform::restrict_thread(0, chosen))
    platform::restrict_thread(0, allowed);
  return true;
}

}  // namespace

void leave_processor(int processor) {
  if (processor < 0 || processor != current_processor()) return;
  if (may_move_now()) move([&](int other) { return other != processor; });
}

void WokenHere::begin() {
  if (thread_ == 0) thread_ = platform::thread_id();
  bound_ = false;
  known_ = platform::allowed_processors(allowed_);
}

void WokenHere::bind(int processor) {
  if (processor < 0 || !known_ || !allowed_.has(processor)) return;
  ProcessorSet chosen;
  chosen.add(processor);
  bound_ |= platform::restrict_thread(thread_, chosen);
}

void WokenHere::end() {
  if (bound_) platform::restrict_thread(0, allowed_);
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
