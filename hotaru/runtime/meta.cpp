#include "hotaru/runtime/meta.h"

#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

/// Storages know how many bytes they would have.
class NoMemory final : public Allocator {
 public:
  void* allocate(size_t) override { return nullptr; }
  void deallocate(void*, size_t, PendingUses*) noexcept override {}
  void copy(void*, const void*, size_t) override {}
};

class NoCalls final : public CallSink {
 public:
  void take(const KernelCall& call) override { check_same_device(call); }
  void record(Event& event) override { Stream(Device{}).record(event); }
  void wait(const Event&) override {}
  void synchronize() override {}
  bool query() const override { return true; }
  bool defers(size_t) const override { return false; }
  void divert(Ref<CallSink>) override {}
};

class MetaBackend final : public Backend {
 public:
  int device_count() override { return 1; }
  int current_device() override { return -1; }
  void check_device(int) override {}
  Allocator& allocator(int) override { return memory_; }
  /// Never advances, as nothing is drawn.
  Generator& default_generator(int) override { return *generator_; }
  const Stream& default_stream(int) override { return stream_; }
  Stream make_stream(int, int) override { return stream_; }
  Ref<Generator> make_generator(int) override {
    return DeviceTable::instance().backend(DeviceType::kCPU).make_generator(0);
  }

 private:
  NoMemory memory_;
  Ref<Generator> generator_ = make_generator(0);
  const Stream stream_{Device{DeviceType::kMeta}, make_ref<NoCalls>()};
};

}  // namespace

Backend& meta_backend() {
  // Never destroyed: tensors in static storage may outlive main.
  static Backend& backend = *[] {
    auto* made = new MetaBackend;
    detail::watchers.fetch_add(detail::kOneDevice);
    DeviceTable::instance().set_backend(DeviceType::kMeta, made);
    return made;
  }();
  return backend;
}

}  // namespace hotaru
