// On which processor a worker runs what others launched.
#pragma once

namespace hotaru::detail {

/// The processor this thread runs on, or -1 if the system does not tell.
int current_processor();

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

}  // namespace hotaru::detail
