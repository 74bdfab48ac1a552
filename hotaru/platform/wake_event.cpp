#include "hotaru/platform/wake_event.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace hotaru::platform {

WakeEvent::WakeEvent()
    : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

WakeEvent::~WakeEvent() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void WakeEvent::set() const {
  const uint64_t one = 1;
  while (::write(descriptor_, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void WakeEvent::clear() const {
  uint64_t count;
  while (::read(descriptor_, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

}  // namespace hotaru::platform
