// A thread of a block on a stack of its own, switched to and from by hand.
// AddressSanitizer and ThreadSanitizer are told of every switch.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace hotaru::soft_gpu {

class Fiber {
 public:
  /// `body(argument)` must not return: it suspends between its pieces of work.
  Fiber(void (*body)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the fiber from the calling thread until it suspends.
  void resume();
  /// Called on the fiber: returns in the next resume().
  void suspend();
  /// Forgets what the fiber was doing; the next resume() begins the body anew.
  void reset();

 private:
  static void enter();
  void prepare();

  void (*const body_)(void*);
  void* const argument_;
  std::byte* memory_;
#if defined(__x86_64__)
  void* inside_ = nullptr;
  void* outside_ = nullptr;
#else
  ucontext_t inside_;
  ucontext_t outside_;
#endif
  // State of the sanitizers for both sides.
  void* inside_fake_ = nullptr;
  void* outside_fake_ = nullptr;
  const void* outside_bottom_ = nullptr;
  size_t outside_size_ = 0;
  void* inside_tsan_ = nullptr;
  void* outside_tsan_ = nullptr;
};

}  // namespace hotaru::soft_gpu
