// What hotaru's device table holds for CUDA, and what Python's torch.cuda asks
// beyond it.
#pragma once

#include "hotaru/backend/cuda/devices.h"
#include "hotaru/runtime/generator.h"

namespace hotaru::cuda {

Generator& default_generator(int device);

}  // namespace hotaru::cuda
