#include "hotaru/runtime/threads/stack_room.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hotaru/platform/thread.h"

namespace hotaru {

namespace {

constexpr size_t kEnough = size_t{256} << 10;

struct Stack : platform::StackBounds {
  size_t enough = 0;
};

Stack of_this_thread() {
  Stack out{platform::this_thread_stack()};
  out.enough = std::min(kEnough, (out.end - out.lowest) / 4);
  return out;
}

}  // namespace

bool stack_is_low() {
  thread_local const Stack stack = of_this_thread();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here >= stack.lowest && here < stack.end &&
         here - stack.lowest < stack.enough;
}

}  // namespace hotaru
