// The CPU's entry in the device table, and its memory.
#include "hotaru/runtime/backend.h"

#include "hotaru/backend/cpu/block_cache.h"
#include "hotaru/core/pool.h"

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

  void deallocate(void* data, size_t nbytes) noexcept override {
    if (!data) return;
    if (nbytes <= BlockPool::kBlock)
      BlockPool::release(data, nbytes);
    else
      blocks_.release(data, nbytes);
  }

 private:
  BlockCache& blocks_ = BlockCache::instance();
};

class CpuBackend final : public Backend {
 public:
  int device_count() const override { return 1; }
  Allocator& allocator(int) override { return allocator_; }
  Generator& default_generator(int) override { return *generator_; }

 private:
  CpuAllocator allocator_;
  Ref<Generator> generator_ = make_ref<Generator>();
};

const bool registered = [] {
  static auto* backend = new CpuBackend;
  DeviceTable::instance().set_backend(DeviceType::kCPU, backend);
  return true;
}();

}  // namespace
}  // namespace hotaru::cpu
