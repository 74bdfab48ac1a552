// Texts and conversions of c10's small types.
#include <cxxabi.h>

#include <array>
#include <cstdlib>

#include "c10/core/Device.h"
#include "c10/core/Layout.h"
#include "c10/core/MemoryFormat.h"
#include "c10/core/Scalar.h"
#include "c10/core/ScalarType.h"
#include "c10/core/TensorOptions.h"
#include "c10/util/Type.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/warning.h"

namespace c10 {

std::string demangle(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  const std::string out = status == 0 ? text : name;
  std::free(text);  // NOLINT: who demangles allocates so
  return out;
}

void WarningHandler::process(const Warning& warning) {
  hotaru::hand_warning(warning.msg());
}
void WarningHandler::hear(std::string_view message) {
  process(Warning(Warning::UserWarning(), {}, std::string(message), false));
}

void WarningUtils::set_warning_handler(WarningHandler* handler) {
  hotaru::set_warning_listener(handler);
}
WarningHandler* WarningUtils::get_warning_handler() {
  static WarningHandler plain;
  auto* set = dynamic_cast<WarningHandler*>(hotaru::warning_listener());
  return set ? set : &plain;
}

void WarningUtils::set_warnAlways(bool setting) {
  hotaru::set_warns_always(setting);
}
bool WarningUtils::get_warnAlways() {
  return hotaru::warns_always();
}

void warn(const Warning& warning) {
  WarningUtils::get_warning_handler()->process(warning);
}
void warn(const std::string& text) {
  hotaru::warn(text);
}

const char* toString(ScalarType type) {
  return type == ScalarType::Undefined
             ? "Undefined"
             : hotaru::scalar_type_name(to_hotaru(type));
}

std::ostream& operator<<(std::ostream& out, ScalarType type) {
  return out << (type == ScalarType::Undefined ? "UNKNOWN_SCALAR"
                                               : toString(type));
}

caffe2::TypeMeta get_default_dtype() {
  return from_hotaru(hotaru::default_dtype());
}
void set_default_dtype(caffe2::TypeMeta type) {
  hotaru::set_default_dtype(to_hotaru(type.toScalarType()));
}

std::ostream& operator<<(std::ostream& out, Layout layout) {
  static constexpr std::array kNames{"Strided",   "Sparse",    "SparseCsr",
                                     "Mkldnn",    "SparseCsc", "SparseBsr",
                                     "SparseBsc", "Jagged"};
  return out << kNames.at(size_t(layout));
}

std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  static constexpr std::array kNames{"Contiguous", "Preserve", "ChannelsLast",
                                     "ChannelsLast3d"};
  return out << kNames.at(size_t(format));
}

namespace {

/// By PyTorch's numbers: in words, and what hotaru calls it.
struct DeviceName {
  const char* upper;
  const char* lower;
};
constexpr std::array<DeviceName, 21> kDevices{{
    {"CPU", "cpu"},
    {"CUDA", "cuda"},
    {"MKLDNN", "mkldnn"},
    {"OPENGL", "opengl"},
    {"OPENCL", "opencl"},
    {"IDEEP", "ideep"},
    {"HIP", "hip"},
    {"FPGA", "fpga"},
    {"MAIA", "maia"},
    {"XLA", "xla"},
    {"VULKAN", "vulkan"},
    {"METAL", "metal"},
    {"XPU", "xpu"},
    {"MPS", "mps"},
    {"META", "meta"},
    {"HPU", "hpu"},
    {"VE", "ve"},
    {"LAZY", "lazy"},
    {"IPU", "ipu"},
    {"MTIA", "mtia"},
    {"PRIVATEUSEONE", "privateuseone"},
}};

DeviceType type_of(hotaru::Device device) {
  const std::string_view name = hotaru::device_type_name(device.type);
  for (size_t i = 0; i < kDevices.size(); ++i)
    if (name == kDevices[i].lower) return static_cast<DeviceType>(i);
  hotaru::fail("PyTorch has no device ", name);
}

}  // namespace

std::string DeviceTypeName(DeviceType type, bool lower_case) {
  const DeviceName& name = kDevices.at(size_t(type));
  return lower_case ? name.lower : name.upper;
}
std::ostream& operator<<(std::ostream& out, DeviceType type) {
  return out << DeviceTypeName(type, true);
}

Device::Device(DeviceType type, DeviceIndex index)
    : type_(type), index_(index) {
  TORCH_CHECK(index >= -1, "Device index must be -1 or non-negative, got ",
              int(index));
  TORCH_CHECK(!is_cpu() || index <= 0,
              "CPU device index must be -1 or zero, got ", int(index));
}
Device::Device(const std::string& text) : Device(hotaru::Device::parse(text)) {}
Device::Device(hotaru::Device device)
    : type_(type_of(device)), index_(device.index) {}

std::string Device::str() const {
  std::string out = DeviceTypeName(type_, true);
  if (has_index()) out += ":" + std::to_string(int(index_));
  return out;
}
std::ostream& operator<<(std::ostream& out, const Device& device) {
  return out << device.str();
}

hotaru::Device to_hotaru(const Device& device) {
  if (device.is_cpu()) return {hotaru::DeviceType::kCPU, device.index()};
  if (device.is_cuda()) return {hotaru::DeviceType::kCUDA, device.index()};
  return hotaru::Device::parse(device.str());
}

ScalarType Scalar::type() const {
  using Kind = hotaru::Scalar::Kind;
  switch (value_.kind()) {
    case Kind::kBool:
      return ScalarType::Bool;
    case Kind::kInt:
      return ScalarType::Long;
    case Kind::kDouble:
      return ScalarType::Double;
    case Kind::kComplex:
      return ScalarType::ComplexDouble;
  }
  return ScalarType::Undefined;
}

void Scalar::check_fits(ScalarType type) const {
  hotaru::check_holds(to_hotaru(type), value_);
}

std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  if (scalar.isComplex()) return out << scalar.toComplexDouble();
  if (scalar.isBoolean()) return out << (scalar.toBool() ? "true" : "false");
  if (scalar.isFloatingPoint()) return out << scalar.toDouble();
  return out << scalar.toLong();
}

TensorOptions TensorOptions::merge_in(const TensorOptions& other) const {
  TensorOptions out = *this;
  if (other.device_) out.device_ = other.device_;
  if (other.dtype_) out.dtype_ = other.dtype_;
  if (other.layout_) out.layout_ = other.layout_;
  if (other.requires_grad_) out.requires_grad_ = other.requires_grad_;
  if (other.pinned_memory_) out.pinned_memory_ = other.pinned_memory_;
  if (other.memory_format_) out.memory_format_ = other.memory_format_;
  return out;
}

std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  const auto mark = [](bool given) { return given ? "" : " (default)"; };
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  out << "TensorOptions(dtype=" << options.dtype() << mark(options.has_dtype())
      << ", device=" << options.device() << mark(options.has_device())
      << ", layout=" << options.layout() << mark(options.has_layout())
      << ", requires_grad=" << flag(options.requires_grad())
      << mark(options.has_requires_grad())
      << ", pinned_memory=" << flag(options.pinned_memory())
      << mark(options.has_pinned_memory()) << ", memory_format=";
  if (const auto format = options.memory_format_opt())
    return out << *format << ')';
  return out << "(nullopt))";
}
std::string toString(const TensorOptions& options) {
  return str(options);
}

}  // namespace c10

namespace caffe2 {

std::string_view TypeMeta::name() const {
  return isScalarType() ? hotaru::cpp_type_name(c10::to_hotaru(type_))
                        : "nullptr (uninitialized)";
}
std::ostream& operator<<(std::ostream& out, TypeMeta type) {
  return out << type.name();
}

}  // namespace caffe2
