// NVIDIA's GPUs, as far as libhotaru_cuda finds any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torch::cuda {

/// 0 without a driver.
size_t device_count();
bool is_available();
/// Tells whether cuDNN can be opened, too.
bool cudnn_is_available();
/// Throws without a GPU.
void manual_seed(uint64_t seed);
void manual_seed_all(uint64_t seed);
/// Waits for all that is queued on the device; -1: the current one.
void synchronize(int64_t device_index = -1);

}  // namespace torch::cuda
