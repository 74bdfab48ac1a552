#include "hotaru/runtime/backend.h"

#include <bit>

#include "hotaru/runtime/streams/stream.h"

namespace hotaru {

DeviceTable& DeviceTable::instance() {
  // Never destroyed: tensors in static storage may outlive main.
  static auto* table = new DeviceTable;
  return *table;
}

Kernel& DeviceTable::kernel(std::string_view name) {
  std::lock_guard lock(mutex_);
  if (const auto it = kernels_.find(name); it != kernels_.end())
    return *it->second;
  auto made = std::make_unique<Kernel>(name);
  Kernel& result = *made;
  kernels_.emplace(result.name(), std::move(made));
  return result;
}

void DeviceTable::missing(DeviceType type) const {
  if (type == DeviceType::kCUDA)
    fail<AssertionError>("Torch not compiled with CUDA enabled");
  fail<NotImplementedError>("device '", device_type_name(type),
                            "' has no back end in this build of hotaru");
}

Generator& default_generator(DeviceType type) {
  return DeviceTable::instance().backend(type).default_generator(0);
}

Device resolve(Device device) {
  const int count = DeviceTable::instance().backend(device.type).device_count();
  if (device.is_cpu()) return {DeviceType::kCPU, -1};
  if (device.index < 0) device.index = 0;
  HOTARU_CHECK(device.index < count, "CUDA error: invalid device ordinal");
  return device;
}

namespace {

Ref<Storage> allocate_storage(size_t nbytes, Device device) {
  Allocator& allocator = DeviceTable::instance()
                             .backend(device.type)
                             .allocator(std::max<int>(device.index, 0));
  const bool streams =
      detail::watchers.load(std::memory_order_relaxed) % detail::kOneWatch != 0;
  const bool deferred = streams && current_stream(device.type).defers(nbytes);
  return make_ref<Storage>(allocator, nbytes, device, deferred);
}

}  // namespace

Tensor allocate(IntSpan sizes, DType dtype, Device device) {
  const size_t item = itemsize(dtype), nbytes = storage_bytes(sizes, item);
  // Item sizes are powers of two.
  const auto numel = int64_t(nbytes >> std::countr_zero(item));
  return Tensor(make_ref<TensorImpl>(allocate_storage(nbytes, device), dtype,
                                     sizes, numel));
}

Tensor allocate(IntSpan sizes, IntSpan strides, DType dtype, Device device) {
  const size_t nbytes = storage_bytes(sizes, strides, itemsize(dtype));
  return Tensor(make_ref<TensorImpl>(allocate_storage(nbytes, device), dtype,
                                     sizes, strides, 0));
}

}  // namespace hotaru
