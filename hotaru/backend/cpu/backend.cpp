// The CPU's entry in the device table, and its memory.
#include "hotaru/runtime/backend.h"

#include "hotaru/backend/cpu/block_cache.h"
#include "hotaru/backend/cpu/random/cpu_generator.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/memory/pool.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::cpu {
namespace {

class CpuAllocator final : public Allocator {
 public:
  void* allocate(size_t nbytes) override {
    if (nbytes == 0) return nullptr;
    if (nbytes <= BlockPool::kBlock) return BlockPool::allocate(nbytes);
    void* data = blocks_.allocate(nbytes);
    HOTARU_CHECK(data, "DefaultCPUAllocator: not enough memory: you tried to ",
                 "allocate ", nbytes, " bytes.");
    return data;
  }

  void deallocate(void* data, size_t nbytes, PendingUses*) noexcept override {
    if (!data) return;
    if (nbytes <= BlockPool::kBlock)
      BlockPool::release(data, nbytes);
    else
      blocks_.release(data, nbytes);
  }
  void give_back() noexcept override { blocks_.clear(); }

 private:
  BlockCache& blocks_ = BlockCache::instance();
};

/// Unseeded programs draw other numbers each time, as do processes that train
/// together.
Ref<Generator> unlike_any_other() {
  auto generator = make_ref<CpuGenerator>();
  generator->seed();
  return generator;
}

class CpuBackend final : public Backend {
 public:
  int device_count() override { return 1; }
  int current_device() override { return -1; }
  void check_device(int) override {}
  Allocator& allocator(int) override { return allocator_; }
  Generator& default_generator(int) override { return *generator_; }
  const Stream& default_stream(int) override { return immediate_; }
  Stream make_stream(int, int) override { return Stream::queued(); }
  Ref<Generator> make_generator(int) override {
    return make_ref<CpuGenerator>();
  }

 private:
  CpuAllocator allocator_;
  const Stream immediate_ = Stream(Device{});
  Ref<Generator> generator_ = unlike_any_other();
};

const bool registered = [] {
  static auto* backend = new CpuBackend;
  DeviceTable::instance().set_backend(DeviceType::kCPU, backend);
  return true;
}();

}  // namespace
}  // namespace hotaru::cpu
