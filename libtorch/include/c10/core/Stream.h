// A stream of any device.
#pragma once

#include <cstdint>
#include <ostream>

#include "c10/core/Device.h"
#include "hotaru/runtime/streams/stream.h"

namespace c10 {

using StreamId = int64_t;

/// Work in order on a device; a value. Thread-safe.
class Stream final {
 public:
  enum Default { DEFAULT };
  Stream(Default, Device device);
  explicit Stream(hotaru::Stream stream) : stream_(std::move(stream)) {}

  Device device() const noexcept { return Device(stream_.device()); }
  DeviceType device_type() const noexcept { return device().type(); }
  DeviceIndex device_index() const noexcept { return device().index(); }
  /// 0 for a device's default stream.
  StreamId id() const { return stream_.id(); }
  /// True if all work so far is done.
  bool query() const { return stream_.query(); }
  /// Waits for it; throws the first error since the last synchronisation.
  void synchronize() const { stream_.synchronize(); }
  bool operator==(const Stream& other) const noexcept {
    return stream_ == other.stream_;
  }
  const hotaru::Stream& hotaru_stream() const { return stream_; }

 private:
  hotaru::Stream stream_;
};

std::ostream& operator<<(std::ostream& out, const Stream& stream);

}  // namespace c10

template <>
struct std::hash<c10::Stream> {
  size_t operator()(const c10::Stream& stream) const noexcept {
    return std::hash<int64_t>()(stream.id()) ^
           std::hash<c10::Device>()(stream.device());
  }
};
