// Guards for the devices that tensors are on.
#pragma once

#include "ATen/core/Tensor.h"
#include "c10/core/DeviceGuard.h"

namespace at {

using c10::DeviceGuard;
using c10::OptionalDeviceGuard;

/// Nothing for an undefined tensor, or an empty list.
inline std::optional<Device> device_of(const Tensor& tensor) {
  if (!tensor.defined()) return std::nullopt;
  return tensor.device();
}
inline std::optional<Device> device_of(const std::optional<Tensor>& tensor) {
  return tensor ? device_of(*tensor) : std::nullopt;
}
inline std::optional<Device> device_of(TensorList tensors) {
  return tensors.empty() ? std::nullopt : device_of(tensors.front());
}

}  // namespace at
