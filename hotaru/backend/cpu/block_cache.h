// Memory for tensors of more than a kilobyte, kept for reuse.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "hotaru/backend/cpu/large_heap.h"

namespace hotaru::cpu {

/// Keeps blocks that were given back, by size, for whoever asks next: memory
/// fresh from the system costs a fault a page, which takes longer than most
/// kernels need to fill it. Sizes are rounded up by at most a quarter; pages
/// that nobody touches take no memory. Those of half a MiB and more lie in
/// pages of 2 MiB, over which processors fetch ahead (LargeHeap). Holds at most
/// kLimit bytes, or twice as many as are in use but no more than ever were, as
/// a training step gives them back and asks for them again: with more it gives
/// all of them back and starts anew. Thread-safe; aligned to 64 bytes. Plain
/// heap memory under AddressSanitizer.
class BlockCache {
 public:
  static constexpr size_t kLimit = size_t{128} << 20;
  /// Larger blocks come from the system and go back to it.
  static constexpr size_t kMaxBlock = size_t{256} << 20;

  BlockCache() = default;
  ~BlockCache() { clear(); }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// The one that lives as long as the process and survives fork().
  static BlockCache& instance();

  /// Null if the system has no more.
  void* allocate(size_t nbytes);
  /// `nbytes` as given to allocate.
  void release(void* data, size_t nbytes) noexcept;
  /// Gives what is kept back to the system.
  void clear() noexcept;
  /// Bytes kept now.
  size_t kept() const { return kept_.load(std::memory_order_relaxed); }
  /// Bytes in use now, and at most since the process or reset_peak() began, as
  /// they were asked for.
  size_t used() const { return used_.load(std::memory_order_relaxed); }
  size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  void reset_peak() { peak_.store(used(), std::memory_order_relaxed); }

 private:
  struct Block {
    Block* next;
  };
  struct List {
    Block* head = nullptr;
  };
  static constexpr size_t kClasses = 80;
  /// Few enough to be held all at once, by fork().
  static constexpr size_t kLocks = 16;

  List& list_of(size_t rounded);
  std::mutex& mutex_of(const List& list) {
    return mutexes_[size_t(&list - lists_.data()) % kLocks];
  }
  void* block_of(size_t nbytes);
  void* fresh(size_t size);
  void give_back(void* data, size_t size) noexcept;
  void count(size_t nbytes);

  LargeHeap heap_;
  std::atomic<size_t> kept_{0}, used_{0}, peak_{0};
  std::array<List, kClasses> lists_;
  std::array<std::mutex, kLocks> mutexes_;
};

}  // namespace hotaru::cpu
