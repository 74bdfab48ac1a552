// Memory full of zeros, for kernels that add to it.
#pragma once

#include "hotaru/backend/cuda/launch.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {

/// Queued on launching_timeline(); of no bytes nothing happens.
inline void clear(void* memory, size_t bytes) {
  if (bytes > 0)
    HOTARU_CUDA(cuMemsetD8Async, reinterpret_cast<CUdeviceptr>(memory), 0,
                bytes, launching_timeline().handle());
}
/// Clears a row-major tensor.
inline void clear(const Tensor& t) {
  if (t.numel() > 0)
    clear(device_address(t), size_t(t.numel()) * itemsize(t.dtype()));
}

}  // namespace hotaru::cuda
