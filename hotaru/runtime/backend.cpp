#include "hotaru/runtime/backend.h"

#include <algorithm>
#include <bit>
#include <string>

#include "hotaru/core/error.h"
#include "hotaru/core/tensor.h"
#include "hotaru/platform/shared_object.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/meta.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {

namespace {

/// Loads a library that lies where the one of this function does.
bool open_beside(const char* name) {
  std::string path =
      platform::library_of(reinterpret_cast<const void*>(&open_beside));
  if (path.empty()) return false;
  path.resize(path.find_last_of('/') + 1);
  return platform::open_library(path + name, nullptr);
}

}  // namespace

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

std::vector<const Kernel*> DeviceTable::kernels() {
  std::lock_guard lock(mutex_);
  std::vector<const Kernel*> all;
  for (const auto& row : kernels_) all.push_back(row.second.get());
  std::ranges::sort(all, {}, &Kernel::name);
  return all;
}

bool DeviceTable::load_kernels(DeviceType type) {
  if (type == DeviceType::kCPU) return true;
  if (type != DeviceType::kCUDA) return false;
  // Static registrations of the library fill this table.
  static const bool opened = open_beside("libhotaru_cuda.so");
  return opened;
}

Backend& DeviceTable::load(DeviceType type) {
  if (type == DeviceType::kCUDA) {
    load_kernels(type);
    if (Backend* b = backends_[size_t(type)].load()) return *b;
    fail<AssertionError>("Torch not compiled with CUDA enabled");
  }
  if (type == DeviceType::kMeta) return meta_backend();
  if (type == DeviceType::kXPU)
    fail<AssertionError>("Torch not compiled with XPU enabled");
  if (type == DeviceType::kMTIA)
    fail<AssertionError>("Torch not compiled with MTIA enabled");
  fail<NotImplementedError>("PyTorch is not linked with support for ",
                            device_type_name(type),
                            " devices: hotaru has cpu, cuda and meta");
}

namespace {
constinit std::atomic<void (*)()> begin_hook{nullptr};
}

void set_begin_hook(void (*hook)()) {
  begin_hook = hook;
}

void run_begin_hook() {
  if (const auto hook = begin_hook.load()) hook();
}

int device_count(DeviceType type) {
  try {
    return DeviceTable::instance().backend(type).device_count();
  } catch (const Error&) {
    return 0;
  }
}

Device resolve(Device device) {
  if (device.is_cpu()) return {};
  Backend& backend = DeviceTable::instance().backend(device.type);
  if (device.index < 0)
    device.index = int8_t(backend.current_device());
  else
    backend.check_device(device.index);
  return device;
}

Generator& default_generator(Device device) {
  device = resolve(device);
  return DeviceTable::instance()
      .backend(device.type)
      .default_generator(std::max<int>(device.index, 0));
}

namespace {

Ref<Storage> allocate_storage(size_t nbytes, Device device) {
  Allocator& allocator = DeviceTable::instance()
                             .backend(device.type)
                             .allocator(std::max<int>(device.index, 0));
  const bool deferred =
      detail::streams_queue(detail::watchers.load(std::memory_order_relaxed)) &&
      current_stream(device).defers(nbytes);
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
