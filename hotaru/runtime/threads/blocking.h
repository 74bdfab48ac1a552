// Around waits: what a host language does before a thread of its sleeps.
#pragma once

#include <mutex>

#include "hotaru/runtime/threads/admission.h"

namespace hotaru {

/// Told when a thread starts and ends to wait for others' work. Python lets go
/// of the interpreter meanwhile, since that work may need it.
struct BlockingHooks {
  void* (*enter)();
  void (*leave)(void* state);
};
/// Set once, before threads wait. The object must stay.
void set_blocking_hooks(const BlockingHooks* hooks);

/// A scope in which this thread may wait for the pool or for streams.
class BlockingRegion {
 public:
  BlockingRegion();
  ~BlockingRegion();
  BlockingRegion(const BlockingRegion&) = delete;
  BlockingRegion& operator=(const BlockingRegion&) = delete;

 private:
  const AdmissionPause pause_;
  void* state_ = nullptr;
};

/// Locks a mutex whose holder may be amid a wait: whoever comes then is in a
/// BlockingRegion until it has the lock.
inline std::unique_lock<std::mutex> blocking_lock(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (lock) return lock;
  const BlockingRegion region;
  lock.lock();
  return lock;
}

}  // namespace hotaru
