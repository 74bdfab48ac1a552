// Times of every kernel, copy and fill on CUDA's devices, for a profile, by
// NVIDIA's CUPTI; which call launched it is known by a number.
#pragma once

#include <memory>
#include <string>

#include "hotaru/runtime/device_timer.h"

namespace hotaru::cuda {

/// Null where CUPTI does not serve; see ActivitySession::begin().
std::shared_ptr<DeviceTimer> make_activity_timer(std::string& complaint);

}  // namespace hotaru::cuda
