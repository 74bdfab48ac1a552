// Streams of NVIDIA's devices.
#pragma once

#include <ostream>
#include <tuple>

#include "c10/core/Stream.h"
#include "c10/cuda/CUDAFunctions.h"

/// As CUDA's own headers declare it.
struct CUstream_st;
typedef struct CUstream_st* cudaStream_t;  // NOLINT: their form

namespace c10::cuda {

/// A c10::Stream of a CUDA device.
class CUDAStream {
 public:
  enum Unchecked { UNCHECKED };
  /// Throws for a stream of another device.
  explicit CUDAStream(Stream stream) : stream_(std::move(stream)) {
    TORCH_CHECK(stream_.device_type() == DeviceType::CUDA,
                "a CUDAStream is made of a CUDA device's stream, got one of ",
                stream_.device());
  }
  CUDAStream(Unchecked, Stream stream) : stream_(std::move(stream)) {}

  operator Stream() const { return stream_; }
  /// The driver's handle, for one's own kernels and libraries. What they are
  /// given has to lie on the device by then: operators of this stream are
  /// launched when they are called.
  cudaStream_t stream() const;
  operator cudaStream_t() const { return stream(); }

  const Stream& unwrap() const { return stream_; }
  Device device() const { return stream_.device(); }
  DeviceType device_type() const { return DeviceType::CUDA; }
  DeviceIndex device_index() const { return stream_.device_index(); }
  StreamId id() const { return stream_.id(); }
  bool query() const { return stream_.query(); }
  void synchronize() const { stream_.synchronize(); }
  /// The least and the greatest; the greatest is the smaller number.
  static std::tuple<int, int> priority_range();
  bool operator==(const CUDAStream& other) const noexcept {
    return stream_ == other.stream_;
  }

 private:
  Stream stream_;
};

/// A stream of its own. Priorities below 0 come first; -1 stands for the
/// current device.
CUDAStream getStreamFromPool(bool high_priority = false,
                             DeviceIndex device = -1);
CUDAStream getStreamFromPool(int priority, DeviceIndex device = -1);
/// One that somebody else made, and keeps.
CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device);
CUDAStream getDefaultCUDAStream(DeviceIndex device = -1);
/// Stream that operators of this thread go to.
CUDAStream getCurrentCUDAStream(DeviceIndex device = -1);
/// Sets its device's stream; which device is current stays.
void setCurrentCUDAStream(CUDAStream stream);

std::ostream& operator<<(std::ostream& out, const CUDAStream& stream);

}  // namespace c10::cuda

template <>
struct std::hash<c10::cuda::CUDAStream> {
  size_t operator()(const c10::cuda::CUDAStream& stream) const noexcept {
    return std::hash<c10::Stream>()(stream.unwrap());
  }
};
