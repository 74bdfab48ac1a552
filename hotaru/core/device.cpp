#include "hotaru/core/device.h"

#include <array>
#include <cctype>

#include "hotaru/core/checks/check.h"

namespace hotaru {
namespace {

constexpr std::array<const char*, kDeviceNames> kNames{
    "cpu",    "cuda",   "meta", "ipu", "xpu",  "mkldnn",       "opengl",
    "opencl", "ideep",  "hip",  "ve",  "fpga", "maia",         "xla",
    "lazy",   "vulkan", "mps",  "hpu", "mtia", "privateuseone"};

// In the order in which PyTorch names them; the text is its own so that
// programs which match on it keep working.
constexpr const char* kExpected =
    "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, "
    "ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone "
    "device type at start of device string: ";

bool is_index(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  for (char c : text)
    if (!std::isdigit(static_cast<unsigned char>(c))) return false;
  return true;
}

}  // namespace

const char* device_type_name(DeviceType type) {
  return kNames[size_t(type)];
}

Device Device::parse(std::string_view text) {
  HOTARU_CHECK(!text.empty(), "Device string must not be empty");
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (char c : name)
    HOTARU_CHECK(std::isalpha(static_cast<unsigned char>(c)) || c == '_',
                 "Invalid device string: '", text, "'");
  HOTARU_CHECK(!name.empty(), "Invalid device string: '", text, "'");
  Device device;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    HOTARU_CHECK(is_index(digits), "Invalid device string: '", text, "'");
    HOTARU_CHECK(digits.size() <= 3 && std::stoi(std::string(digits)) <= 127,
                 "Could not parse device index '", digits,
                 "' in device string '", text, "'");
    device.index = int8_t(std::stoi(std::string(digits)));
  }
  for (int i = 0; i < kDeviceNames; ++i) {
    if (name != kNames[i]) continue;
    device.type = static_cast<DeviceType>(i);
    return device;
  }
  fail(kExpected, name);
}

std::string Device::str() const {
  std::string out = device_type_name(type);
  if (index >= 0) out += ":" + std::to_string(int(index));
  return out;
}

std::ostream& operator<<(std::ostream& out, Device device) {
  return out << device.str();
}

void refuse_devices(Device first, Device other, std::string_view where) {
  fail(
      "Expected all tensors to be on the same device, but found at least two "
      "devices, ",
      first, " and ", other, "!", where);
}

}  // namespace hotaru
