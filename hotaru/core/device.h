// Where a tensor lives.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace hotaru {

enum class DeviceType : int8_t {
  kCPU,
  kCUDA,
  kMeta,
  // PyTorch's others, as names: programs compare and store them, no tensor
  // lies there (DeviceTable::backend refuses them).
  kIPU,
  kXPU,
  kMKLDNN,
  kOpenGL,
  kOpenCL,
  kIDEEP,
  kHIP,
  kVE,
  kFPGA,
  kMAIA,
  kXLA,
  kLazy,
  kVulkan,
  kMPS,
  kHPU,
  kMTIA,
  kPrivateUse1,
};
/// Number of the types that can have a back end: the first ones.
inline constexpr int kDeviceTypes = 3;
inline constexpr int kDeviceNames = 20;

const char* device_type_name(DeviceType type);

/// A device type and an index; index -1 means the type's current device.
struct Device {
  DeviceType type = DeviceType::kCPU;
  int8_t index = -1;

  /// Reads "cpu", "cuda:1", "mps"; throws PyTorch's texts otherwise.
  static Device parse(std::string_view text);
  std::string str() const;

  bool is_cpu() const { return type == DeviceType::kCPU; }
  bool is_cuda() const { return type == DeviceType::kCUDA; }
  bool operator==(const Device&) const = default;
};

std::ostream& operator<<(std::ostream& out, Device device);

/// Throws Error for tensors that should have lain on one device.
[[noreturn]] void refuse_devices(Device first, Device other,
                                 std::string_view where = {});

}  // namespace hotaru
