// A point in a stream's work.
#pragma once

#include <exception>

#include "hotaru/core/device.h"
#include "hotaru/runtime/streams/timeline.h"

namespace hotaru {

class CallSink;

/// One recording of an event: a place in a timeline.
struct Mark : RefCounted {
  Ref<Timeline> timeline;  // null: recorded on an immediate stream of the CPU
  /// The stream's branch of a capture, if that is where it was recorded; then
  /// number counts the calls that were captured there.
  Ref<CallSink> branch;
  uint64_t number = 0;

  ~Mark() override;
  /// Throws Error if it was recorded while its stream was captured.
  bool done() const;
  /// Returns when the timeline arrived here. Throws the error it came with.
  void wait() const;
  /// Error that was the timeline's first when it arrived, or null; goes on to
  /// who waits for the event.
  virtual std::exception_ptr error() const { return nullptr; }
  /// Milliseconds from here to a mark of the same device type; both are done.
  /// Throws Error for marks that keep no time.
  virtual double milliseconds_to(const Mark& end) const;
};

/// A value; copies share the recording. Recording again forgets the earlier
/// one, but not for streams that already wait for it. An event that was never
/// recorded counts as done.
class Event {
 public:
  explicit Event(bool enable_timing = false, Device device = {})
      : timing_(enable_timing), device_(device) {}

  /// For whose streams it was made.
  Device device() const { return device_; }
  bool enable_timing() const { return timing_; }
  bool recorded() const { return bool(mark_); }
  bool query() const { return !mark_ || mark_->done(); }
  void synchronize() const {
    if (mark_) mark_->wait();
  }
  /// Milliseconds from this event to `end`; waits for both. Throws unless both
  /// were made with enable_timing and recorded.
  double elapsed_time(const Event& end) const;

  const Ref<Mark>& mark() const { return mark_; }
  void set_mark(Ref<Mark> mark) { mark_ = std::move(mark); }

 private:
  bool timing_;
  Device device_;
  Ref<Mark> mark_;
};

}  // namespace hotaru
