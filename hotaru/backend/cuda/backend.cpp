#include "hotaru/backend/cuda/backend.h"

#include <memory>
#include <mutex>
#include <vector>

#include "hotaru/backend/cuda/allocator.h"
#include "hotaru/backend/cuda/philox.h"
#include "hotaru/backend/cuda/stream.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::cuda {

Generator& default_generator(int device) {
  check_device(device);
  static auto* mutex = new std::mutex;
  static auto* made = new std::vector<Ref<Generator>>;
  const std::lock_guard lock(*mutex);
  for (int i = int(made->size()); i < device_count(); ++i)
    made->push_back(make_ref<PhiloxGenerator>(i));
  return *(*made)[size_t(device)];
}

namespace {

class CudaBackend final : public Backend {
 public:
  int device_count() override {
    const int count = cuda::device_count();
    if (count > 0) watch_devices();
    return count;
  }
  int current_device() override {
    watch_devices();
    return cuda::current_device();
  }
  void check_device(int device) override {
    watch_devices();
    cuda::check_device(device);
  }
  Allocator& allocator(int device) override { return cuda::allocator(device); }
  Generator& default_generator(int device) override {
    return cuda::default_generator(device);
  }
  const Stream& default_stream(int device) override {
    return cuda::default_stream(device);
  }
  Stream make_stream(int device, int priority) override {
    return cuda::make_stream(device, priority);
  }
  Ref<Generator> make_generator(int device) override {
    return make_ref<PhiloxGenerator>(device);
  }

 private:
  /// From now on the door looks at operands' devices.
  static void watch_devices() {
    static const bool watched = [] {
      detail::watchers.fetch_add(detail::kOneDevice);
      return true;
    }();
    (void)watched;
  }
};

const bool registered = [] {
  DeviceTable::instance().set_backend(DeviceType::kCUDA, new CudaBackend);
  return true;
}();

}  // namespace
}  // namespace hotaru::cuda
