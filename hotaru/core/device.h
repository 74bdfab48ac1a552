// Where a tensor lives.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace hotaru {

enum class DeviceType : int8_t { kCPU = 0, kCUDA = 1, kMeta = 2 };
inline constexpr int kDeviceTypes = 3;

const char* device_type_name(DeviceType type);

/// A device type and an index; index -1 means the type's current device.
struct Device {
  DeviceType type = DeviceType::kCPU;
  int8_t index = -1;

  /// Reads "cpu", "cuda", "cuda:1"; throws PyTorch's texts otherwise.
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
