// NVIDIA's devices: how many, and which is meant.
#pragma once

#include "c10/core/Device.h"

namespace c10::cuda {

/// 0 without a driver.
DeviceIndex device_count() noexcept;
/// The same, but throws where there is none.
DeviceIndex device_count_ensure_non_zero();
/// This thread's. Throws without a GPU.
DeviceIndex current_device();
void set_device(DeviceIndex device);
/// Waits for all that is queued on the current device.
void device_synchronize();

}  // namespace c10::cuda
