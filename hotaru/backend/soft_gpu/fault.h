// Faults of kernels: an access to memory that is not theirs becomes an error of
// the launch, as on a GPU, and not the end of the process.
#pragma once

#include <setjmp.h>

#include "hotaru/backend/cuda/driver_types.h"

namespace hotaru::soft_gpu {

/// From here to the destructor a SIGSEGV, SIGBUS or SIGFPE of the calling
/// thread goes to the point that arm() named; everybody else's to the handler
/// before. SIGFPE is an integer's division by zero, which a GPU leaves
/// undefined.
class FaultHandlers {
 public:
  FaultHandlers();
  ~FaultHandlers();
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;
};

/// Where faults go from now on (made by sigsetjmp without the signal mask);
/// null for nowhere.
void arm(sigjmp_buf* point);

/// Ends the code that runs under the armed point, with this error.
[[noreturn]] void abandon(cuda::CUresult error);

/// The error of the latest arrival at an armed point.
cuda::CUresult fault_error();

/// body(argument) under a point of its own; its error, or success.
cuda::CUresult guarded(void (*body)(void*), void* argument);

}  // namespace hotaru::soft_gpu
