// Another CUDA device, or stream, as the current one for a scope.
#pragma once

#include "c10/core/DeviceGuard.h"
#include "c10/cuda/CUDAStream.h"

namespace c10::cuda {

/// Takes an index, too; throws for devices of another type.
class CUDAGuard : public DeviceGuard {
 public:
  explicit CUDAGuard(DeviceIndex index)
      : DeviceGuard(Device(DeviceType::CUDA, index)) {}
  explicit CUDAGuard(Device device) : DeviceGuard(checked(device)) {}

 private:
  static Device checked(Device device) {
    TORCH_CHECK(device.is_cuda(), "expected a CUDA device, got ", device);
    return device;
  }
};

/// Nothing for a device that is not CUDA's or is missing.
class OptionalCUDAGuard : public OptionalDeviceGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device && device->is_cuda()) reset_device(*device);
  }
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> index) {
    if (index) set_index(*index);
  }
  explicit OptionalCUDAGuard(DeviceIndex index) { set_index(index); }
  void set_device(Device device) { reset_device(device); }
  void set_index(DeviceIndex index) {
    reset_device(Device(DeviceType::CUDA, index));
  }
};

/// The stream, and its device, are current.
class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(const Stream& stream)
      : device_(stream.device()),
        original_(getCurrentCUDAStream(stream.device_index())),
        current_(stream) {
    setCurrentCUDAStream(current_);
  }
  ~CUDAStreamGuard() { setCurrentCUDAStream(original_); }
  CUDAStreamGuard(const CUDAStreamGuard&) = delete;
  CUDAStreamGuard& operator=(const CUDAStreamGuard&) = delete;

  CUDAStream original_stream() const { return original_; }
  CUDAStream current_stream() const { return current_; }
  Device original_device() const { return device_.original_device(); }
  Device current_device() const { return device_.current_device(); }

 private:
  CUDAGuard device_;
  /// Streams on the device of the given one.
  CUDAStream original_, current_;
};

/// Nothing until it gets a stream.
class OptionalCUDAStreamGuard {
 public:
  OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(const Stream& stream) {
    reset_stream(stream);
  }
  explicit OptionalCUDAStreamGuard(const std::optional<Stream>& stream) {
    if (stream) reset_stream(*stream);
  }
  void reset_stream(const Stream& stream) {
    guard_.reset();
    guard_.emplace(stream);
  }
  void reset() { guard_.reset(); }
  std::optional<CUDAStream> current_stream() const {
    if (!guard_) return std::nullopt;
    return guard_->current_stream();
  }

 private:
  std::optional<CUDAStreamGuard> guard_;
};

}  // namespace c10::cuda
