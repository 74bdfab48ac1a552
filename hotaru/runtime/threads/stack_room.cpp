#include "hotaru/runtime/threads/stack_room.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace hotaru {

namespace {

constexpr size_t kEnough = size_t{256} << 10;

struct Stack {
  uintptr_t lowest = 0;
  uintptr_t end = 0;  // 0: unknown
  size_t enough = 0;
};

Stack of_this_thread() {
  Stack out;
#if defined(__linux__)
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return out;
  void* lowest = nullptr;
  size_t size = 0;
  if (::pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    out.lowest = reinterpret_cast<uintptr_t>(lowest);
    out.end = out.lowest + size;
    out.enough = std::min(kEnough, size / 4);
  }
  ::pthread_attr_destroy(&attributes);
#endif
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
