#include "hotaru/runtime/threads/blocking.h"

#include <atomic>

namespace hotaru {
namespace {

std::atomic<const BlockingHooks*> installed{nullptr};

}  // namespace

void set_blocking_hooks(const BlockingHooks* hooks) {
  installed.store(hooks, std::memory_order_release);
}

BlockingRegion::BlockingRegion() {
  if (const auto* hooks = installed.load(std::memory_order_acquire))
    state_ = hooks->enter();
}

BlockingRegion::~BlockingRegion() {
  if (const auto* hooks = installed.load(std::memory_order_acquire))
    hooks->leave(state_);
}

}  // namespace hotaru
