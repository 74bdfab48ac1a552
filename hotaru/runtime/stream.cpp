#include "hotaru/runtime/stream.h"

#include <array>

namespace hotaru {
namespace {

thread_local std::array<Stream, kDeviceTypes> current{
    Stream(Device{DeviceType::kCPU}), Stream(Device{DeviceType::kCUDA, 0}),
    Stream(Device{DeviceType::kMeta})};

Stream& slot(DeviceType type) {
  return current[size_t(type)];
}

}  // namespace

const Stream& current_stream(DeviceType type) {
  return slot(type);
}

StreamGuard::StreamGuard(const Stream& stream)
    : previous_(slot(stream.device().type)) {
  slot(stream.device().type) = stream;
}

StreamGuard::~StreamGuard() {
  slot(previous_.device().type) = previous_;
}

}  // namespace hotaru
