// Memory for the small objects and buffers that come and go with every
// operator.
#pragma once

#include <cstddef>

namespace hotaru {

/// Blocks of up to kBlock bytes, kept per thread and size for reuse, up to half
/// a megabyte of each size; larger ones come from the heap. All are aligned to
/// kAlignment. A block may be given back by another thread than the one that
/// took it. Plain heap memory under AddressSanitizer.
class BlockPool {
 public:
  static constexpr size_t kBlock = 1024;
  static constexpr size_t kAlignment = 64;
  /// False where memory must not be reused, to find errors.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kPooling = false;
#elif defined(__has_feature)
  static constexpr bool kPooling = !__has_feature(address_sanitizer);
#else
  static constexpr bool kPooling = true;
#endif

  /// Throws std::bad_alloc.
  static void* allocate(size_t size);
  /// `size` as given to allocate.
  static void release(void* memory, size_t size) noexcept;
};

/// Base of classes whose objects live in such blocks.
struct Pooled {
  static void* operator new(size_t size) { return BlockPool::allocate(size); }
  static void operator delete(void* memory, size_t size) noexcept {
    BlockPool::release(memory, size);
  }
};

}  // namespace hotaru
