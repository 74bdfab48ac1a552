#include "hotaru/platform/fork.h"

#include <pthread.h>

namespace hotaru::platform {

int at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  return pthread_atfork(before, in_parent, in_child);
}

}  // namespace hotaru::platform
