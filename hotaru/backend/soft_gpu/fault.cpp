#include "hotaru/backend/soft_gpu/fault.h"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdlib>

namespace hotaru::soft_gpu {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE};
constexpr int kCount = 3;
constexpr size_t kHandlerStack = 64 << 10;

// One thread at a time runs kernels.
sigjmp_buf* volatile armed = nullptr;
volatile cuda::CUresult error_of_fault = cuda::CUDA_SUCCESS;
pthread_t owner;
struct sigaction previous[kCount];

void on_fault(int signal, siginfo_t*, void* context) {
  if (pthread_equal(pthread_self(), owner) && armed) {
    // The handler is left by a jump, so what it blocks is unblocked here.
    pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask,
                    nullptr);
    error_of_fault = signal == SIGFPE ? cuda::CUDA_ERROR_LAUNCH_FAILED
                                      : cuda::CUDA_ERROR_ILLEGAL_ADDRESS;
    siglongjmp(*armed, 1);
  }
  // Somebody else's: the instruction runs again under the handler before us.
  for (int i = 0; i < kCount; ++i)
    if (kSignals[i] == signal) sigaction(signal, &previous[i], nullptr);
}

void prepare_stack() {
  static thread_local bool prepared = false;
  if (prepared) return;
  prepared = true;
  stack_t stack{};
  alignas(16) static char memory[kHandlerStack];
  stack.ss_sp = memory;
  stack.ss_size = kHandlerStack;
  sigaltstack(&stack, nullptr);
}

}  // namespace

FaultHandlers::FaultHandlers() {
  prepare_stack();
  owner = pthread_self();
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int i = 0; i < kCount; ++i)
    sigaction(kSignals[i], &action, &previous[i]);
}

FaultHandlers::~FaultHandlers() {
  for (int i = 0; i < kCount; ++i)
    sigaction(kSignals[i], &previous[i], nullptr);
}

void arm(sigjmp_buf* point) {
  armed = point;
}

void abandon(cuda::CUresult error) {
  if (!armed) std::abort();
  error_of_fault = error;
  siglongjmp(*armed, 1);
}

cuda::CUresult fault_error() {
  return error_of_fault;
}

cuda::CUresult guarded(void (*body)(void*), void* argument) {
  sigjmp_buf point;
  if (sigsetjmp(point, 0) != 0) {
    armed = nullptr;
    return error_of_fault;
  }
  armed = &point;
  body(argument);
  armed = nullptr;
  return cuda::CUDA_SUCCESS;
}

}  // namespace hotaru::soft_gpu
