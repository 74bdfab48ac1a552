// Memory in large pages for blocks of which several share one.
#pragma once

#include <cstddef>
#include <mutex>

namespace hotaru::cpu {

/// Takes chunks of address space from the system, asks for pages of 2 MiB in
/// them, over which processors fetch ahead, and divides them: weights of half a
/// megabyte that lie side by side are read as fast as one of a hundred. Blocks
/// come from the first gap that is large enough; gaps that touch become one,
/// give their whole large pages back to the system, and go back themselves once
/// as large as a chunk. Blocks are a page apart, or those of one size would all
/// begin in the same sets of a cache. Meant for few calls: it walks the gaps.
/// Thread-safe.
class LargeHeap {
 public:
  /// Sizes are multiples of it.
  static constexpr size_t kGranule = size_t{4} << 10;
  static constexpr size_t kMaxBlock = size_t{32} << 20;

  LargeHeap() = default;
  ~LargeHeap();
  LargeHeap(const LargeHeap&) = delete;
  LargeHeap& operator=(const LargeHeap&) = delete;

  /// At most kMaxBlock bytes; null if the system has no more.
  void* allocate(size_t size);
  /// `size` as given to allocate.
  void release(void* data, size_t size) noexcept;
  /// Bytes of address space in gaps.
  size_t gaps() const;

  /// To be held around fork().
  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr size_t kChunk = kMaxBlock + (size_t{2} << 20);

  /// Stands at the beginning of the gap that it tells of.
  struct Gap {
    Gap* next;
    size_t size;

    char* begin() { return reinterpret_cast<char*>(this); }
    char* end() { return begin() + size; }
  };

  void* take(size_t size);
  Gap* insert(char* begin, size_t size);
  bool grow();
  static char* chunk_of_system();

  mutable std::mutex mutex_;
  Gap* first_ = nullptr;  // by address
};

}  // namespace hotaru::cpu
