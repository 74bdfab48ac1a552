// Objects that kernels share, whose uses streams keep in order.
#pragma once

#include <atomic>

#include "hotaru/core/ref.h"

namespace hotaru {

class Ordered;

namespace detail {
/// While a graph is captured: told of every object that host code looks at,
/// and throws if it must not. Null otherwise.
extern constinit std::atomic<void (*)(const Ordered&)> host_watch;
}  // namespace detail

/// Uses of an object that queued streams have still to do; the runtime's.
class PendingUses {
 public:
  virtual ~PendingUses() = default;
  /// Returns when all of it has run. Throws the error of work that failed and
  /// left the object without its value.
  virtual void wait() = 0;
};

/// Base of storages and generators. Work on one of them that was enqueued on
/// one stream is done before later work on another stream, and before the host
/// looks at it.
class Ordered : public RefCounted {
 public:
  ~Ordered() override { delete uses(); }

  /// For host code, before it reads or writes the object: see PendingUses.
  /// Two loads where nothing is captured and no queued stream ever used the
  /// object. Throws in a thread that captures a graph, see
  /// graph/capture/capture.h.
  void wait() const {
    if (const auto watch = detail::host_watch.load(std::memory_order_relaxed))
        [[unlikely]]
      watch(*this);
    if (PendingUses* pending = uses()) [[unlikely]]
      pending->wait();
  }

  /// Null until a queued stream uses the object.
  PendingUses* uses() const { return uses_.load(std::memory_order_acquire); }
  /// Takes ownership. Once per object, under a lock of the runtime's.
  void set_uses(PendingUses* uses) const {
    uses_.store(uses, std::memory_order_release);
  }

 private:
  mutable std::atomic<PendingUses*> uses_{nullptr};
};

}  // namespace hotaru
