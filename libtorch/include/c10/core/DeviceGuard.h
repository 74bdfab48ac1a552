// Another device as the current one of its type, for a scope.
#pragma once

#include <optional>

#include "c10/core/Device.h"

namespace c10 {

namespace detail {
/// The index that the type's calls mean where they name none; 0 for the CPU.
DeviceIndex current_index(DeviceType type);
void set_current_index(const Device& device);
}  // namespace detail

/// A device without an index stands for the current one. Throws for a device
/// that is not there.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device)
      : original_(device.type(), detail::current_index(device.type())),
        current_(original_) {
    set_device(device);
  }
  ~DeviceGuard() { detail::set_current_index(original_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  /// Changes to a device of the same type.
  void reset_device(Device device) { set_device(device); }
  void set_index(DeviceIndex index) {
    set_device(Device(current_.type(), index));
  }
  Device original_device() const { return original_; }
  Device current_device() const { return current_; }

 private:
  void set_device(Device device) {
    TORCH_CHECK(device.type() == original_.type(),
                "this guard is for devices of type ", original_.type(),
                ", got ", device);
    if (device.has_index()) current_ = device;
    detail::set_current_index(current_);
  }

  Device original_, current_;
};

/// Nothing until it gets a device.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device device) { reset_device(device); }
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) reset_device(*device);
  }

  void reset_device(Device device) {
    guard_.reset();
    guard_.emplace(device);
  }
  std::optional<Device> original_device() const {
    if (!guard_) return std::nullopt;
    return guard_->original_device();
  }
  std::optional<Device> current_device() const {
    if (!guard_) return std::nullopt;
    return guard_->current_device();
  }

 private:
  std::optional<DeviceGuard> guard_;
};

}  // namespace c10
