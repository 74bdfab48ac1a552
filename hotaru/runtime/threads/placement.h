// On which processor a worker runs what others launched.
#pragma once

#include "hotaru/platform/processors.h"

namespace hotaru::detail {

/// The processor this thread runs on, or -1 if the system does not tell.
inline int current_processor() {
  return platform::current_processor();
}

/// Moves the calling thread off the given processor if it runs there. The
/// kernel sometimes wakes a worker beside its caller though another processor
/// is idle, and may leave both there for a long time.
void leave_processor(int processor);

/// In a child of fork(): the parent's tasks do not run here.
void forget_tasks();

/// While a launched task runs: counts it on its processor. A worker first moves
/// to a processor where no other task runs; where the launcher does not run
/// either, if there is one. Both at most once a millisecond and thread, as with
/// more threads than processors there is nowhere to go.
class Placed {
 public:
  /// `launcher`: where launch() was called.
  Placed(bool may_move, int launcher);
  ~Placed();
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

 private:
  int processor_;
};

/// A thread that others wake on the processor which they are about to leave:
/// the system would often choose one that is busy, and leave theirs idle.
class WokenHere {
 public:
  /// By the thread itself, before it sleeps.
  void begin();
  /// Binds the thread to a processor; by one thread at a time.
  void bind(int processor);
  /// By the thread itself, awake: all is as it was before begin().
  void end();

 private:
  int thread_ = 0;
  bool known_ = false, bound_ = false;
  platform::ProcessorSet allowed_;
};

}  // namespace hotaru::detail
