// The CPU's entry in the device table, and its memory.
#include "hotaru/runtime/backend.h"

#include <array>
#include <cstdlib>
#include <new>

namespace hotaru::cpu {
namespace {

constexpr size_t kAlignment = 64;
// Blocks up to 1 KiB go back to a list of their thread: small tensors are
// made and dropped by the million, and malloc's aligned path costs 40 ns.
constexpr size_t kClasses = 16;
constexpr size_t kMaxCached = kClasses * kAlignment;
constexpr int kMaxBlocks = 64;

struct Block {
  Block* next;
};

struct Cache {
  struct List {
    Block* head = nullptr;
    int count = 0;
  };
  std::array<List, kClasses> lists;
  bool alive = true;
  ~Cache() {
    alive = false;
    for (List& list : lists)
      while (list.head) std::free(std::exchange(list.head, list.head->next));
  }
};

thread_local Cache cache;

size_t rounded(size_t nbytes) {
  return (nbytes + kAlignment - 1) & ~(kAlignment - 1);
}

class CpuAllocator final : public Allocator {
 public:
  void* allocate(size_t nbytes) override {
    if (nbytes == 0) return nullptr;
    const size_t size = rounded(nbytes);
    if (size <= kMaxCached && cache.alive) {
      Cache::List& list = cache.lists[size / kAlignment - 1];
      if (list.head) {
        --list.count;
        return std::exchange(list.head, list.head->next);
      }
    }
    void* data =
        size >= nbytes ? std::aligned_alloc(kAlignment, size) : nullptr;
    HOTARU_CHECK(data, "DefaultCPUAllocator: not enough memory: you tried to ",
                 "allocate ", nbytes, " bytes.");
    return data;
  }

  void deallocate(void* data, size_t nbytes) noexcept override {
    if (!data) return;
    const size_t size = rounded(nbytes);
    if (size <= kMaxCached && cache.alive) {
      Cache::List& list = cache.lists[size / kAlignment - 1];
      if (list.count < kMaxBlocks) {
        ++list.count;
        list.head = new (data) Block{list.head};
        return;
      }
    }
    std::free(data);
  }
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
