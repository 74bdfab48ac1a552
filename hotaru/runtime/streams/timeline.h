// Order of work on different streams: numbered entries of a queue on the CPU,
// or of a stream of another device.
#pragma once

#include <cstdint>
#include <exception>

#include "hotaru/core/ref.h"

namespace hotaru {

class StreamQueue;

/// Entries end in the order of their numbers, which start at one. Thread-safe.
class Timeline : public RefCounted {
 public:
  /// True if the n-th entry has run.
  virtual bool done(uint64_t number) = 0;
  /// Returns when it has.
  virtual void wait_for(uint64_t number) = 0;
  /// Notes who goes on when the n-th entry has run: a queue, or, if null, a
  /// thread of the host's. False if it has.
  virtual bool resume_at(uint64_t number, StreamQueue* waiter) = 0;
  /// Why no entry can be relied on, also of those that are over: the device was
  /// lost. Null while it works.
  virtual std::exception_ptr failure() { return nullptr; }
};

/// The n-th entry of a timeline.
struct Ticket {
  Ref<Timeline> timeline;
  uint64_t number = 0;
  bool done() const { return timeline->done(number); }
};

}  // namespace hotaru
