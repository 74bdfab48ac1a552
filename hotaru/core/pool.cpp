#include "hotaru/core/pool.h"

#include <new>
#include <utility>

namespace hotaru {
namespace {

struct Block {
  Block* next;
};

// Blocks that a thread keeps: enough for the operands of a few operators.
constexpr int kKept = 64;

// Trivial, so that access needs no check for its construction; the object
// below empties it when the thread ends.
constinit thread_local Block* kept = nullptr;
constinit thread_local int room = kKept;

struct Cleanup {
  ~Cleanup() {
    room = 0;
    while (kept) ::operator delete(std::exchange(kept, kept->next));
  }
};

void clean_up_at_exit() {
  static thread_local Cleanup cleanup;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPooling = false;
#elif defined(__has_feature)
constexpr bool kPooling = !__has_feature(address_sanitizer);
#else
constexpr bool kPooling = true;
#endif

}  // namespace

void* BlockPool::allocate(size_t size) {
  if (!kPooling || size > kBlock) return ::operator new(size);
  if (!kept) return ::operator new(kBlock);
  ++room;
  return std::exchange(kept, kept->next);
}

void BlockPool::release(void* memory, size_t size) noexcept {
  if (!kPooling || size > kBlock || room == 0) {
    ::operator delete(memory);
    return;
  }
  if (!kept) clean_up_at_exit();
  --room;
  kept = new (memory) Block{kept};
}

}  // namespace hotaru
