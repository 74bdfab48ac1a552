// Questions of torch::cuda and c10::cuda to the devices.
#include "torch/cuda.h"

#include "ATen/core/Generator.h"
#include "c10/core/DeviceGuard.h"
#include "c10/cuda/CUDAStream.h"
#include "hotaru/runtime/accelerator.h"
#include "source/seed.h"

namespace {

using hotaru::accelerator;

/// The device of that index; -1 stands for the current one.
hotaru::Device cuda_device(c10::DeviceIndex index) {
  return hotaru::resolve(c10::to_hotaru(c10::Device(c10::kCUDA, index)));
}

}  // namespace

namespace c10 {

namespace detail {

DeviceIndex current_index(DeviceType type) {
  if (type != DeviceType::CUDA) return 0;
  return cuda::current_device();
}
void set_current_index(const Device& device) {
  if (device.is_cuda()) cuda::set_device(device.index());
}

}  // namespace detail

Stream::Stream(Default, Device device)
    : stream_(device.is_cuda() ? accelerator().default_stream(
                                     cuda_device(device.index()).index)
                               : hotaru::Stream(to_hotaru(device))) {}

std::ostream& operator<<(std::ostream& out, const Stream& stream) {
  return out << "stream " << stream.id() << " on device " << stream.device();
}

namespace cuda {

DeviceIndex device_count() noexcept {
  return DeviceIndex(hotaru::device_count(hotaru::DeviceType::kCUDA));
}
DeviceIndex device_count_ensure_non_zero() {
  accelerator().initialize();
  return device_count();
}
DeviceIndex current_device() {
  return DeviceIndex(accelerator().current_device());
}
void set_device(DeviceIndex device) {
  accelerator().set_current_device(device);
}
void device_synchronize() {
  torch::cuda::synchronize();
}

cudaStream_t CUDAStream::stream() const {
  return reinterpret_cast<cudaStream_t>(  // NOLINT(performance-no-int-to-ptr)
      accelerator().stream_handle(stream_.hotaru_stream()));
}
std::tuple<int, int> CUDAStream::priority_range() {
  return accelerator().priority_range();
}

CUDAStream getStreamFromPool(bool high_priority, DeviceIndex device) {
  return getStreamFromPool(high_priority ? -1 : 0, device);
}
CUDAStream getStreamFromPool(int priority, DeviceIndex device) {
  return CUDAStream(
      Stream(accelerator().make_stream(cuda_device(device).index, priority)));
}
CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device) {
  return CUDAStream(Stream(accelerator().external_stream(
      cuda_device(device).index, reinterpret_cast<uintptr_t>(stream))));
}
CUDAStream getDefaultCUDAStream(DeviceIndex device) {
  return CUDAStream(Stream(Stream::DEFAULT, Device(kCUDA, device)));
}
CUDAStream getCurrentCUDAStream(DeviceIndex device) {
  return CUDAStream(Stream(hotaru::current_stream(cuda_device(device))));
}
void setCurrentCUDAStream(CUDAStream stream) {
  hotaru::set_current_stream(stream.unwrap().hotaru_stream());
}

std::ostream& operator<<(std::ostream& out, const CUDAStream& stream) {
  return out << stream.unwrap();
}

}  // namespace cuda
}  // namespace c10

namespace torch::cuda {

size_t device_count() {
  return size_t(c10::cuda::device_count());
}
bool is_available() {
  return device_count() > 0;
}
bool cudnn_is_available() {
  if (!is_available()) return false;
  const auto found = accelerator().libraries("cudnn");
  return !found.empty() && found[0].why_not.empty();
}
void manual_seed(uint64_t seed) {
  hotaru::Accelerator& devices = accelerator();
  at::seed_with(devices.default_generator(devices.current_device()), seed);
}
void manual_seed_all(uint64_t seed) {
  for (size_t i = 0; i < device_count(); ++i)
    at::seed_with(accelerator().default_generator(int(i)), seed);
}
void synchronize(int64_t device_index) {
  hotaru::Accelerator& devices = accelerator();
  devices.synchronize(device_index < 0 ? devices.current_device()
                                       : int(device_index));
}

}  // namespace torch::cuda
