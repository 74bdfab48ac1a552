// Where tensors' bytes come from: blocks used again, storages that get their
// memory late, and memory that they are given.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "hotaru/backend/cpu/block_cache.h"
#include "hotaru/core/error.h"
#include "hotaru/core/storage.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru {
namespace {

using cpu::BlockCache;

TEST(BlockCache, ABlockOfAnySizeHoldsItsBytesAndIsUsedAgain) {
  if (!BlockPool::kPooling) GTEST_SKIP() << "no reuse under AddressSanitizer";
  BlockCache cache;
  for (size_t size = 1025; size <= BlockCache::kMaxBlock;
       size += 1 + size / 7) {
    void* block = cache.allocate(size);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    std::memset(block, 1, size);
    cache.release(block, size);
    EXPECT_EQ(cache.allocate(size), block) << size;
    cache.release(block, size);
    cache.clear();
  }
}

TEST(BlockCache, ABlockServesNoLargerSizeThanItHas) {
  if (!BlockPool::kPooling) GTEST_SKIP() << "no reuse under AddressSanitizer";
  BlockCache cache;
  void* block = cache.allocate(5000);
  cache.release(block, 5000);
  // 5000 bytes take 5120.
  void* larger = cache.allocate(5121);
  EXPECT_NE(larger, block);
  void* same = cache.allocate(5120);
  EXPECT_EQ(same, block);
  cache.release(same, 5120);
  cache.release(larger, 5121);
  cache.clear();
}

TEST(BlockCache, CountsWhatIsInUseAndTheMostThatWas) {
  BlockCache cache;
  void* a = cache.allocate(3000);
  void* b = cache.allocate(50'000'000);
  EXPECT_EQ(cache.used(), 50'003'000u);
  cache.release(b, 50'000'000);
  EXPECT_EQ(cache.used(), 3000u);
  EXPECT_EQ(cache.peak(), 50'003'000u);
  cache.reset_peak();
  EXPECT_EQ(cache.peak(), 3000u);
  cache.release(a, 3000);
  EXPECT_EQ(cache.allocate(size_t(-1)), nullptr);
  EXPECT_EQ(cache.used(), 0u);
}

TEST(BlockCache, KeepsNoMoreThanItsLimit) {
  if (!BlockPool::kPooling) GTEST_SKIP() << "no reuse under AddressSanitizer";
  BlockCache cache;
  constexpr size_t kSize = size_t{32} << 20;
  std::vector<void*> blocks;
  for (size_t i = 0; i <= BlockCache::kLimit / kSize; ++i)
    blocks.push_back(cache.allocate(kSize));
  for (void* block : blocks) {
    cache.release(block, kSize);
    EXPECT_LE(cache.kept(), BlockCache::kLimit);
  }
  EXPECT_EQ(cache.kept(), kSize);  // all went when the last one came
  cache.clear();
  EXPECT_EQ(cache.kept(), 0u);
}

TEST(BlockCache, KeepsTwiceWhatIsInUseButNoMoreThanEverWas) {
  if (!BlockPool::kPooling) GTEST_SKIP() << "no reuse under AddressSanitizer";
  BlockCache cache;
  constexpr size_t kSize = size_t{64} << 20;  // nobody touches it
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(cache.allocate(kSize));
  for (int i = 0; i < 4; ++i) cache.release(blocks[size_t(i)], kSize);
  EXPECT_EQ(cache.kept(), 4 * kSize);  // two are in use
  cache.release(blocks[4], kSize);
  EXPECT_LE(cache.kept(), 4 * kSize);  // beyond both limits: not kept
  cache.release(blocks[5], kSize);
  EXPECT_LE(cache.kept(), 4 * kSize);
}

TEST(BlockCache, GivesBackWhatItKeepsBeforeItSaysThereIsNoMemory) {
  if (kSanitized)
    GTEST_SKIP() << "sanitizers reserve more address space than a limit allows";
  constexpr size_t kLarge = size_t{30} << 20, kOther = size_t{20} << 20;
  const pid_t child = fork();
  if (child == 0) {
    // Large blocks from the system, not from what earlier tests left.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    malloc_trim(0);
    BlockCache cache;
    void* kept = cache.allocate(kLarge);
    if (!kept) _exit(1);
    cache.release(kept, kLarge);
    // Room for one more block of the smaller size, but only in place of it.
    rlimit limit{kOther / 2, kOther / 2};
    std::ifstream statm("/proc/self/statm");
    size_t pages = 0;
    statm >> pages;
    limit.rlim_cur = limit.rlim_max += pages * size_t(sysconf(_SC_PAGESIZE));
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    _exit(cache.allocate(kOther) ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// Counts what is allocated and not given back.
struct CountingAllocator final : Allocator {
  std::atomic<int> made{0}, alive{0};
  bool exhausted = false;
  void* allocate(size_t nbytes) override {
    HOTARU_CHECK(!exhausted, "no memory");
    ++made, ++alive;
    return std::malloc(nbytes);
  }
  void deallocate(void* data, size_t, PendingUses*) noexcept override {
    --alive;
    std::free(data);
  }
};

TEST(DeferredStorage, AllocatesWhenAskedWhereItIs) {
  CountingAllocator allocator;
  {
    const auto unused = make_ref<Storage>(allocator, 100, Device{}, true);
    EXPECT_EQ(allocator.made, 0);
  }
  EXPECT_EQ(allocator.alive, 0);
  const auto empty = make_ref<Storage>(allocator, 0, Device{}, true);
  EXPECT_EQ(empty->data(), nullptr);
  const auto storage = make_ref<Storage>(allocator, 100, Device{}, true);
  void* data = storage->data();
  EXPECT_EQ(storage->data(), data);
  EXPECT_EQ(allocator.made, 1);
  storage->resize(200);
  EXPECT_EQ(allocator.alive, 1);
}

TEST(DeferredStorage, ThreadsThatAskAtOnceGetTheSameMemory) {
  CountingAllocator allocator;
  for (int round = 0; round < 200; ++round) {
    const auto storage = make_ref<Storage>(allocator, 64, Device{}, true);
    void* other = nullptr;
    std::jthread thread([&] { other = storage->data(); });
    void* mine = storage->data();
    thread.join();
    EXPECT_EQ(mine, other);
    EXPECT_EQ(allocator.alive, 1);
  }
  EXPECT_EQ(allocator.alive, 0);
}

TEST(DeferredStorage, SaysWhenThereIsNoMemoryAndMayBeAskedAgain) {
  CountingAllocator allocator;
  const auto storage = make_ref<Storage>(allocator, 64, Device{}, true);
  allocator.exhausted = true;
  EXPECT_THROW(storage->data(), Error);
  allocator.exhausted = false;
  EXPECT_NE(storage->data(), nullptr);
}

TEST(Storage, PlacedMemoryIsBorrowed) {
  struct Owner : RefCounted {
    explicit Owner(bool& gone) : gone(gone) {}
    ~Owner() override { gone = true; }
    bool& gone;
    char bytes[64];
  };
  CountingAllocator allocator;
  bool gone = false;
  auto storage = make_ref<Storage>(allocator, 64, Device{});
  {
    const auto owner = make_ref<Owner>(gone);
    storage->place(owner->bytes, owner);
    EXPECT_EQ(storage->data(), owner->bytes);
  }
  EXPECT_EQ(allocator.alive, 0);
  EXPECT_FALSE(storage->resizable());
  EXPECT_FALSE(gone);
  storage = nullptr;
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace hotaru
