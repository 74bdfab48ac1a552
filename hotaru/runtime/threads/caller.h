// A thread that calls, as the line of callers sees it; admission.cpp's own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "hotaru/core/mutex.h"
#include "hotaru/platform/thread.h"
#include "hotaru/runtime/threads/admission.h"
#include "hotaru/runtime/threads/bell.h"
#include "hotaru/runtime/threads/placement.h"
#include "hotaru/runtime/threads/working_memory.h"

namespace hotaru::detail {

struct Caller {
  using Clock = std::chrono::steady_clock;
  /// Whoever calls again within this time only calls.
  static constexpr std::chrono::microseconds kSoon{100};

  // The thread's own:
  Admission* owner = nullptr;
  uint32_t process = 0;  // fork_count() when it was made known
  int depth = 0;
  int on = -1;              // the processor of its place
  Clock::time_point began;  // its call; {} while there are few callers
  Clock::time_point ended, yielded;
  bool prompt = false;  // this call began within kSoon of the last's end
  Clock::duration usual = std::chrono::milliseconds(1);  // time of a call

  std::atomic<bool> holds{false};
  Bell bell;

  // The line's, by the lock; the thread's again when it has its place:
  Caller *next_known = nullptr, *next_in_line = nullptr;
  bool lends = false;  // counted in lent_
  WokenHere processor;
  std::unique_ptr<WorkingMemory> memory;  // that came with the place
  platform::ThreadClock clock;
  int64_t used = 0;  // processor time when somebody last looked, in ns

  Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() {
    if (is_known()) owner->forget(*this);
  }
  /// After a fork the parent's admission is no longer anybody's.
  bool is_known() const { return owner && process == hotaru::fork_count(); }

  void begin(Clock::time_point now) {
    prompt = now - ended < kSoon;
    began = now;
  }
  /// Its call ends. One that the system interrupted says little about the
  /// others.
  void end(Clock::time_point now) {
    usual += (std::min(now - began, 4 * usual) - usual) / 8;
    ended = now;
    began = {};
  }

  int64_t processor_time() const { return clock.used().count(); }
};

}  // namespace hotaru::detail
