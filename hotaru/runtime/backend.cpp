#include "hotaru/runtime/backend.h"

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

Ref<Storage> allocate_storage(IntSpan sizes, int64_t elements, DType dtype,
                              Device device) {
  int64_t nbytes = 0;
  HOTARU_CHECK(
      !__builtin_mul_overflow(elements, int64_t(itemsize(dtype)), &nbytes),
      "Storage size calculation overflowed with sizes=", shape_text(sizes));
  Allocator& allocator = DeviceTable::instance()
                             .backend(device.type)
                             .allocator(std::max<int>(device.index, 0));
  const bool streams =
      detail::watchers.load(std::memory_order_relaxed) % detail::kOneWatch != 0;
  const bool deferred =
      streams && current_stream(device.type).defers(size_t(nbytes));
  return make_ref<Storage>(allocator, size_t(nbytes), device, deferred);
}

void check_sizes(IntSpan sizes) {
  for (int64_t size : sizes)
    HOTARU_CHECK(size >= 0, "Trying to create tensor with negative dimension ",
                 size, ": ", shape_text(sizes));
}

}  // namespace

Tensor allocate(IntSpan sizes, DType dtype, Device device) {
  check_sizes(sizes);
  const int64_t numel = numel_of(sizes);
  return Tensor(make_ref<TensorImpl>(
      allocate_storage(sizes, numel, dtype, device), dtype, sizes, numel));
}

Tensor allocate(IntSpan sizes, IntSpan strides, DType dtype, Device device) {
  check_sizes(sizes);
  const int64_t extent = storage_extent(sizes, strides);
  return Tensor(
      make_ref<TensorImpl>(allocate_storage(sizes, extent, dtype, device),
                           dtype, sizes, strides, 0));
}

}  // namespace hotaru
