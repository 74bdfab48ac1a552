#include "hotaru/backend/cpu/block_cache.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

#include "hotaru/core/memory/pool.h"
#include "hotaru/platform/fork.h"
#include "hotaru/platform/pages.h"

namespace hotaru::cpu {
namespace {

// Four sizes for each power of two, from 1 KiB to kMaxBlock.
constexpr int kSteps = 2;
constexpr size_t kSmallest = size_t{1} << 10;

/// The smallest size of a block that holds nbytes.
size_t rounded_up(size_t nbytes) {
  if (nbytes > BlockCache::kMaxBlock) {
    constexpr size_t kMask = BlockPool::kAlignment - 1;
    return (nbytes + kMask) & ~kMask;
  }
  nbytes = std::max(nbytes, kSmallest);
  const size_t step = std::bit_floor(nbytes) >> kSteps;
  return (nbytes + step - 1) & ~(step - 1);
}

// From here on memory lies in large pages where the system has them.
constexpr size_t kLargePages = size_t{1} << 19;
static_assert(kLargePages >> kSteps >= LargeHeap::kGranule);

bool is_of_heap(size_t size) {
  return BlockPool::kPooling && size >= kLargePages &&
         size <= LargeHeap::kMaxBlock;
}

}  // namespace

/// Memory of the system's, or null.
void* BlockCache::fresh(size_t size) {
  if (is_of_heap(size)) return heap_.allocate(size);
  void* data = std::aligned_alloc(BlockPool::kAlignment, size);
  if (!data || size < kLargePages) return data;
  const uintptr_t page = platform::page_size();
  const uintptr_t begin =
      (reinterpret_cast<uintptr_t>(data) + page - 1) & ~(page - 1);
  const uintptr_t end =
      (reinterpret_cast<uintptr_t>(data) + size) & ~(page - 1);
  // Only a wish: without large pages everything works as well.
  platform::wish_large_pages(reinterpret_cast<void*>(begin), end - begin);
  return data;
}

void BlockCache::give_back(void* data, size_t size) noexcept {
  is_of_heap(size) ? heap_.release(data, size) : std::free(data);
}

BlockCache& BlockCache::instance() {
  // A child must not inherit a lock that another thread of its parent held.
  static auto& cache = *[] {
    const auto lock = [] {
      for (std::mutex& mutex : instance().mutexes_) mutex.lock();
      instance().heap_.mutex().lock();
    };
    const auto unlock = [] {
      instance().heap_.mutex().unlock();
      for (std::mutex& mutex : instance().mutexes_) mutex.unlock();
    };
    platform::at_fork(lock, unlock, unlock);
    return new BlockCache;
  }();
  return cache;
}

BlockCache::List& BlockCache::list_of(size_t rounded) {
  const int exponent = std::bit_width(rounded) - 1;
  const size_t quarter = rounded >> (exponent - kSteps) & ((1 << kSteps) - 1);
  return lists_[(size_t(exponent - std::bit_width(kSmallest) + 1) << kSteps) +
                quarter];
}

void BlockCache::count(size_t nbytes) {
  const size_t used =
      used_.fetch_add(nbytes, std::memory_order_relaxed) + nbytes;
  size_t peak = peak_.load(std::memory_order_relaxed);
  while (used > peak &&
         !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

void* BlockCache::allocate(size_t nbytes) {
  void* data = block_of(nbytes);
  if (data) count(nbytes);
  return data;
}

void* BlockCache::block_of(size_t nbytes) {
  const size_t size = rounded_up(nbytes);
  if (size < nbytes) return nullptr;  // overflow
  if (BlockPool::kPooling && size <= kMaxBlock) {
    List& list = list_of(size);
    const std::lock_guard lock(mutex_of(list));
    if (list.head) {
      kept_.fetch_sub(size, std::memory_order_relaxed);
      return std::exchange(list.head, list.head->next);
    }
  }
  if (void* data = fresh(size)) return data;
  clear();  // what is kept may be what is missing
  return fresh(size);
}

void BlockCache::release(void* data, size_t nbytes) noexcept {
  used_.fetch_sub(nbytes, std::memory_order_relaxed);
  const size_t size = rounded_up(nbytes);
  const size_t limit = std::max(kLimit, std::min(2 * used(), peak()));
  if (!BlockPool::kPooling || size > kMaxBlock ||
      (size > LargeHeap::kMaxBlock && kept() + size > limit))
    return give_back(data, size);
  if (kept_.fetch_add(size, std::memory_order_relaxed) + size > limit) clear();
  List& list = list_of(size);
  const std::lock_guard lock(mutex_of(list));
  list.head = new (data) Block{list.head};
}

void BlockCache::clear() noexcept {
  size_t freed = 0;
  for (List& list : lists_) {
    Block* block;
    {
      const std::lock_guard lock(mutex_of(list));
      block = std::exchange(list.head, nullptr);
    }
    const size_t index = size_t(&list - lists_.data());
    const size_t exponent = (index >> kSteps) + std::bit_width(kSmallest) - 1;
    const size_t size = (size_t{1} << exponent) +
                        ((index & ((1 << kSteps) - 1)) << (exponent - kSteps));
    for (; block; freed += size)
      give_back(std::exchange(block, block->next), size);
  }
  kept_.fetch_sub(freed, std::memory_order_relaxed);
}

}  // namespace hotaru::cpu
