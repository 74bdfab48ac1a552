// Event that ends another thread's poll().
#pragma once

namespace hotaru::platform {

/// Set by any thread, until it is cleared. Of one process: a fork's child must
/// not touch its parent's.
class WakeEvent {
 public:
  WakeEvent();
  ~WakeEvent();
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  /// False if the system had no descriptor for it.
  explicit operator bool() const { return descriptor_ >= 0; }
  /// Readable while the event is set.
  int descriptor() const { return descriptor_; }
  /// Does not wait.
  void set() const;
  void clear() const;

 private:
  int descriptor_;
};

}  // namespace hotaru::platform
