#include "hotaru/runtime/shared_memory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/shape.h"
#include "hotaru/platform/fork.h"
#include "hotaru/platform/pages.h"

namespace hotaru {

struct SharedMemory::Counter {
  std::atomic<int64_t> looks;
};

namespace {

/// Every mapped block by where it ends, for find(). Never destroyed: storages
/// may outlive static objects.
struct Blocks {
  std::mutex mutex;
  std::map<const char*, SharedMemory*> by_end;
};

/// Counts the process's forks.
std::atomic<uint64_t> forks{0};

Blocks& blocks() {
  static Blocks& all = [&]() -> Blocks& {
    static auto* made = new Blocks;
    // The child of a fork must find the lock open.
    platform::at_fork(
        [] {
          made->mutex.lock();
          forks.fetch_add(1, std::memory_order_relaxed);
        },
        [] { made->mutex.unlock(); }, [] { made->mutex.unlock(); });
    return *made;
  }();
  return all;
}

/// Owner of a storage over a block.
class Look : public RefCounted {
 public:
  explicit Look(Ref<SharedMemory> memory)
      : memory_(std::move(memory)),
        forks_(forks.load(std::memory_order_relaxed)) {}
  ~Look() override {
    if (forks_ == forks.load(std::memory_order_relaxed)) memory_->give_back();
  }

 private:
  Ref<SharedMemory> memory_;
  uint64_t forks_;
};

}  // namespace

SharedMemory::SharedMemory(int descriptor, size_t size, bool filled)
    : size_(size), descriptor_(descriptor) {
  void* base = platform::map_shared(descriptor, size, filled);
  if (!base) {
    const int error = errno;
    close(descriptor);
    fail("shared memory: cannot map ", size, " bytes: ", std::strerror(error));
  }
  base_ = static_cast<char*>(base);
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  all.by_end[base_ + size_] = this;
}

SharedMemory::~SharedMemory() {
  {
    Blocks& all = blocks();
    const std::lock_guard lock(all.mutex);
    all.by_end.erase(base_ + size_);
  }
  platform::unmap_pages(base_, size_);
  close_descriptor();
}

Ref<SharedMemory> SharedMemory::create(size_t nbytes) {
  HOTARU_CHECK(nbytes < (size_t{1} << 46), "shared memory: ", nbytes,
               " bytes are too many");
  const int descriptor = platform::new_memory_file("hotaru");
  HOTARU_CHECK(descriptor >= 0, "shared memory: ", std::strerror(errno));
  const size_t page = platform::page_size();
  const size_t size = (nbytes + kHeader + page - 1) / page * page;
  if (ftruncate(descriptor, off_t(size)) != 0) {
    const int error = errno;
    close(descriptor);
    fail("shared memory: cannot get ", size, " bytes: ", std::strerror(error));
  }
  // Pages are cleared when they are first written, which finds them in a cache.
  return Ref<SharedMemory>(new SharedMemory(descriptor, size, false));
}

Ref<SharedMemory> SharedMemory::map(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || status.st_size <= off_t(kHeader)) {
    close(descriptor);
    fail("shared memory: the descriptor ", descriptor, " is no block");
  }
  // The pages are there: all of them at once are cheaper than one by one.
  return Ref<SharedMemory>(
      new SharedMemory(descriptor, size_t(status.st_size), true));
}

Ref<SharedMemory> SharedMemory::find(const void* address) {
  const char* at = static_cast<const char*>(address);
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  const auto next = all.by_end.upper_bound(at);
  if (next == all.by_end.end() || next->second->base_ > at) return {};
  // Its last owner may be waiting for the lock.
  return next->second->try_retain() ? Ref<SharedMemory>::adopt(next->second)
                                    : Ref<SharedMemory>();
}

void SharedMemory::close_descriptor() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

SharedMemory::Counter& SharedMemory::counter() const {
  static_assert(std::atomic<int64_t>::is_always_lock_free,
                "processes share the counter");
  return *reinterpret_cast<Counter*>(base_);
}

void SharedMemory::take() const {
  counter().looks.fetch_add(1, std::memory_order_relaxed);
}

void SharedMemory::give_back() const {
  counter().looks.fetch_sub(1, std::memory_order_release);
}

bool SharedMemory::idle() const {
  return counter().looks.load(std::memory_order_acquire) == 0;
}

void share(Storage& storage) {
  HOTARU_CHECK(storage.device().is_cpu(), "share_memory_: memory of ",
               storage.device(), " cannot be shared");
  const Ref<SharedMemory> memory = SharedMemory::create(storage.nbytes());
  memory->take();
  const Ref<RefCounted> look(make_ref<Look>(memory));
  storage.move(memory->data(), look);
}

Tensor shared_tensor(const Ref<SharedMemory>& memory, DType dtype,
                     IntSpan sizes, IntSpan strides, int64_t offset,
                     bool taken) {
  if (!taken) memory->take();
  const Ref<RefCounted> look(make_ref<Look>(memory));
  // As long as the tensor: the rest of the block is nobody's, and is not saved.
  const size_t nbytes = storage_bytes(sizes, strides, itemsize(dtype), offset);
  HOTARU_CHECK(nbytes <= memory->nbytes(), "a tensor of ", nbytes,
               " bytes in shared memory of ", memory->nbytes());
  return make_tensor(make_ref<Storage>(memory->data(), nbytes, Device{}, look),
                     dtype, sizes, strides, offset);
}

}  // namespace hotaru
