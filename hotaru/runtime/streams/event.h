// A point in a stream's work.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>

#include "hotaru/core/ref.h"

namespace hotaru {

class Stream;
class CallSink;
class StreamQueue;

/// One recording of an event: the place in the queue and, once the queue got
/// there, the time.
struct Mark : RefCounted {
  using Clock = std::chrono::steady_clock;

  Ref<StreamQueue> queue;  // null: recorded on an immediate stream
  /// The stream's branch of a capture, if that is where it was recorded; then
  /// number counts the calls that were captured there.
  Ref<CallSink> branch;
  uint64_t number = 0;
  /// Written by the queue when it arrives.
  std::atomic<Clock::rep> time{0};
  /// The queue's error when it arrived; goes on to who waits for the event.
  std::exception_ptr error;

  ~Mark() override;
  bool done() const;
  /// Returns when the queue arrived here. Throws the error it came with.
  void wait() const;
};

/// A value; copies share the recording. Recording again forgets the earlier
/// one, but not for streams that already wait for it. An event that was never
/// recorded counts as done.
class Event {
 public:
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}

  bool enable_timing() const { return timing_; }
  bool recorded() const { return bool(mark_); }
  bool query() const { return !mark_ || mark_->done(); }
  void synchronize() const {
    if (mark_) mark_->wait();
  }
  /// Milliseconds from this event to `end`. Throws unless both were made with
  /// enable_timing, recorded and reached.
  double elapsed_time(const Event& end) const;

  const Ref<Mark>& mark() const { return mark_; }
  void set_mark(Ref<Mark> mark) { mark_ = std::move(mark); }

 private:
  bool timing_;
  Ref<Mark> mark_;
};

}  // namespace hotaru
