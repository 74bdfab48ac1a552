#include "hotaru/backend/soft_gpu/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#if defined(__has_feature)
#define HOTARU_FIBER_HAS(name) __has_feature(name)
#else
#define HOTARU_FIBER_HAS(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HOTARU_FIBER_HAS(address_sanitizer)
#define HOTARU_FIBER_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || HOTARU_FIBER_HAS(thread_sanitizer)
#define HOTARU_FIBER_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__)
// Saves what a callee has to keep on the stack that it leaves, and takes the
// same from the stack that it enters.
asm(R"(
.text
.type hotaru_soft_gpu_switch, @function
.globl hotaru_soft_gpu_switch
.hidden hotaru_soft_gpu_switch
hotaru_soft_gpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size hotaru_soft_gpu_switch, .-hotaru_soft_gpu_switch
)");
extern "C" void hotaru_soft_gpu_switch(void** left, void* entered)
    __attribute__((visibility("hidden")));
#endif

namespace hotaru::soft_gpu {
namespace {

#if defined(HOTARU_FIBER_ASAN) || defined(HOTARU_FIBER_TSAN)
constexpr size_t kStackBytes = 256 << 10;
#else
constexpr size_t kStackBytes = 64 << 10;
#endif
constexpr size_t kGuardBytes = 16 << 10;

/// The fiber that resume() starts, for its first instructions.
constinit thread_local Fiber* entering = nullptr;

}  // namespace

Fiber::Fiber(void (*body)(void*), void* argument)
    : body_(body), argument_(argument) {
  void* memory =
      mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  mprotect(memory, kGuardBytes, PROT_NONE);
  prepare();
}

Fiber::~Fiber() {
#if defined(HOTARU_FIBER_TSAN)
  __tsan_destroy_fiber(inside_tsan_);
#endif
  munmap(memory_, kGuardBytes + kStackBytes);
}

void Fiber::prepare() {
#if defined(HOTARU_FIBER_ASAN)
  __asan_unpoison_memory_region(memory_ + kGuardBytes, kStackBytes);
#endif
#if defined(HOTARU_FIBER_TSAN)
  inside_tsan_ = __tsan_create_fiber(0);
#endif
#if defined(__x86_64__)
  // As after a call of enter() whose return address is null: the words that
  // the switch takes, the address it returns to, the null.
  auto* top = reinterpret_cast<uint64_t*>(memory_ + kGuardBytes + kStackBytes);
  *--top = 0;
  *--top = reinterpret_cast<uint64_t>(&Fiber::enter);
  for (int i = 0; i < 6; ++i) *--top = 0;
  uint32_t sse;
  uint16_t x87;
  asm volatile("stmxcsr %0" : "=m"(sse));
  asm volatile("fnstcw %0" : "=m"(x87));
  *--top = sse | uint64_t{x87} << 32;
  inside_ = top;
#else
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = memory_ + kGuardBytes;
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = nullptr;
  makecontext(&inside_, &Fiber::enter, 0);
#endif
}

void Fiber::reset() {
#if defined(HOTARU_FIBER_TSAN)
  __tsan_destroy_fiber(inside_tsan_);
#endif
  inside_fake_ = nullptr;
  prepare();
}

void Fiber::enter() {
  Fiber* self = entering;
#if defined(HOTARU_FIBER_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &self->outside_bottom_,
                                  &self->outside_size_);
#endif
  self->body_(self->argument_);
  __builtin_trap();
}

void Fiber::resume() {
  entering = this;
#if defined(HOTARU_FIBER_ASAN)
  __sanitizer_start_switch_fiber(&outside_fake_, memory_ + kGuardBytes,
                                 kStackBytes);
#endif
#if defined(HOTARU_FIBER_TSAN)
  outside_tsan_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(inside_tsan_, 0);
#endif
#if defined(__x86_64__)
  hotaru_soft_gpu_switch(&outside_, inside_);
#else
  swapcontext(&outside_, &inside_);
#endif
#if defined(HOTARU_FIBER_ASAN)
  __sanitizer_finish_switch_fiber(outside_fake_, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
#if defined(HOTARU_FIBER_ASAN)
  __sanitizer_start_switch_fiber(&inside_fake_, outside_bottom_, outside_size_);
#endif
#if defined(HOTARU_FIBER_TSAN)
  __tsan_switch_to_fiber(outside_tsan_, 0);
#endif
#if defined(__x86_64__)
  hotaru_soft_gpu_switch(&inside_, outside_);
#else
  swapcontext(&inside_, &outside_);
#endif
#if defined(HOTARU_FIBER_ASAN)
  __sanitizer_finish_switch_fiber(inside_fake_, &outside_bottom_,
                                  &outside_size_);
#endif
}

}  // namespace hotaru::soft_gpu
