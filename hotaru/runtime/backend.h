// The table of devices: what each device type offers at run time.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "hotaru/core/mutex.h"
#include "hotaru/core/storage.h"
#include "hotaru/runtime/generator.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru {

/// What a device type must bring besides kernels. Objects live for the whole
/// process; methods are thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual int device_count() const = 0;
  virtual Allocator& allocator(int device) = 0;
  virtual Generator& default_generator(int device) = 0;
};

/// Back ends and kernels by device type; filled as libraries load.
class DeviceTable {
 public:
  static DeviceTable& instance();

  /// Throws AssertionError "Torch not compiled with CUDA enabled" when the
  /// type has no back end here.
  Backend& backend(DeviceType type) const {
    Backend* b = backends_[size_t(type)];
    if (!b) [[unlikely]]
      missing(type);
    return *b;
  }
  bool has(DeviceType type) const { return backends_[size_t(type)]; }
  void set_backend(DeviceType type, Backend* backend) {
    backends_[size_t(type)] = backend;
  }
  /// Finds or makes a kernel's row; references stay valid.
  Kernel& kernel(std::string_view name);

 private:
  [[noreturn]] void missing(DeviceType type) const;

  Backend* backends_[kDeviceTypes] = {};
  Mutex mutex_;
  std::unordered_map<std::string_view, std::unique_ptr<Kernel>> kernels_;
};

/// Uninitialised memory for a tensor. Row-major unless strides are given.
Tensor allocate(IntSpan sizes, DType dtype, Device device);
Tensor allocate(IntSpan sizes, IntSpan strides, DType dtype, Device device);
/// The device with its index filled in, checked to exist here.
Device resolve(Device device);

}  // namespace hotaru
