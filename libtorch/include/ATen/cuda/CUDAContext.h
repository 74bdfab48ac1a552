// Devices and streams of CUDA, under at::cuda.
#pragma once

#include "ATen/cuda/CUDAEvent.h"
#include "c10/cuda/CUDAFunctions.h"
#include "c10/cuda/CUDAGuard.h"
#include "c10/cuda/CUDAStream.h"
#include "torch/cuda.h"

namespace at::cuda {

using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::getDefaultCUDAStream;
using c10::cuda::getStreamFromExternal;
using c10::cuda::getStreamFromPool;
using c10::cuda::OptionalCUDAGuard;
using c10::cuda::OptionalCUDAStreamGuard;
using c10::cuda::setCurrentCUDAStream;

inline int64_t getNumGPUs() {
  return c10::cuda::device_count();
}
inline bool is_available() {
  return c10::cuda::device_count() > 0;
}

}  // namespace at::cuda
