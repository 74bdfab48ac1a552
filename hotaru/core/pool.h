// Memory for the small objects that come and go with every operator.
#pragma once

#include <cstddef>

namespace hotaru {

/// Blocks of up to kBlock bytes, kept per thread for reuse; larger ones come
/// from the heap. A block may be given back by another thread than the one
/// that took it. Plain heap memory under AddressSanitizer.
class BlockPool {
 public:
  static constexpr size_t kBlock = 256;

  static void* allocate(size_t size);
  /// `size` as given to allocate.
  static void release(void* memory, size_t size) noexcept;
};

}  // namespace hotaru
