// Memory that a thread's kernels work in, kept from call to call.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace hotaru {

/// Numbered buffers that grow. It belongs to whoever computes: a thread that is
/// about to sleep may hand its own to the one that goes on in its place, whose
/// caches it still fills.
class WorkingMemory {
 public:
  static constexpr size_t kBuffers = 32;
  static constexpr size_t kAlignment = 64;

  /// Buffer of at least as many bytes, uninitialised; valid until the same one
  /// is asked for again. Throws std::bad_alloc.
  void* buffer(size_t index, size_t bytes);

  /// The calling thread's, made when it is first asked for.
  static WorkingMemory& here();
  /// Takes the calling thread's away; may be null.
  static std::unique_ptr<WorkingMemory> take();
  /// Makes it the calling thread's, whose own ends, unless it is null.
  static void give(std::unique_ptr<WorkingMemory> memory);

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  struct Buffer {
    std::unique_ptr<std::byte, Free> data;
    size_t bytes = 0;
  };
  std::array<Buffer, kBuffers> buffers_;
};

}  // namespace hotaru
