// The stand-in's handle of cuDNN.
#pragma once

#include "hotaru/backend/cuda/libraries/cudnn_entries.h"

namespace hotaru::cuda::dnn {

struct Context {
  CUstream stream = nullptr;
};

}  // namespace hotaru::cuda::dnn

namespace hotaru::soft_gpu {

inline constexpr int kBadParam = 2000, kNotSupported = 3000,
                     kExecutionFailed = 5000;

}  // namespace hotaru::soft_gpu
