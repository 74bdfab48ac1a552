// Where a tensor lives.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "c10/util/Exception.h"
#include "hotaru/core/device.h"

namespace c10 {

using DeviceIndex = int8_t;

/// PyTorch's numbers.
enum class DeviceType : int8_t {
  CPU = 0,
  CUDA = 1,
  MKLDNN = 2,
  OPENGL = 3,
  OPENCL = 4,
  IDEEP = 5,
  HIP = 6,
  FPGA = 7,
  MAIA = 8,
  XLA = 9,
  Vulkan = 10,
  Metal = 11,
  XPU = 12,
  MPS = 13,
  Meta = 14,
  HPU = 15,
  VE = 16,
  Lazy = 17,
  IPU = 18,
  MTIA = 19,
  PrivateUse1 = 20,
};

constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kHIP = DeviceType::HIP;
constexpr DeviceType kXLA = DeviceType::XLA;
constexpr DeviceType kMPS = DeviceType::MPS;
constexpr DeviceType kMeta = DeviceType::Meta;
constexpr DeviceType kXPU = DeviceType::XPU;
constexpr DeviceType kVulkan = DeviceType::Vulkan;
constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;

/// "CUDA", or "cuda".
std::string DeviceTypeName(DeviceType type, bool lower_case = false);
std::ostream& operator<<(std::ostream& out, DeviceType type);

/// A device type and an index; -1 stands for the type's current device.
struct Device final {
  using Type = DeviceType;

  Device(DeviceType type, DeviceIndex index = -1);
  /// "cpu", "cuda:1". Throws PyTorch's texts.
  Device(const std::string& text);
  Device(const char* text) : Device(std::string(text)) {}
  explicit Device(hotaru::Device device);

  DeviceType type() const noexcept { return type_; }
  DeviceIndex index() const noexcept { return index_; }
  void set_index(DeviceIndex index) { index_ = index; }
  bool has_index() const noexcept { return index_ != -1; }
  bool is_cpu() const noexcept { return type_ == DeviceType::CPU; }
  bool is_cuda() const noexcept { return type_ == DeviceType::CUDA; }
  bool is_meta() const noexcept { return type_ == DeviceType::Meta; }
  bool is_mps() const noexcept { return type_ == DeviceType::MPS; }
  bool is_xpu() const noexcept { return type_ == DeviceType::XPU; }
  bool is_privateuseone() const noexcept {
    return type_ == DeviceType::PrivateUse1;
  }
  bool operator==(const Device& other) const noexcept {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const noexcept {
    return !(*this == other);
  }
  std::string str() const;

 private:
  DeviceType type_;
  DeviceIndex index_ = -1;
};

std::ostream& operator<<(std::ostream& out, const Device& device);

/// Throws for the types that hotaru has no name of.
hotaru::Device to_hotaru(const Device& device);

}  // namespace c10

template <>
struct std::hash<c10::Device> {
  size_t operator()(const c10::Device& device) const noexcept {
    return size_t(device.type()) << 8 | size_t(uint8_t(device.index()));
  }
};
