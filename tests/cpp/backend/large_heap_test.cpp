#include "hotaru/backend/cpu/large_heap.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace hotaru::cpu {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(LargeHeap, GapsThatTouchAreOneAndChunksGoBack) {
  LargeHeap heap;
  void* a = heap.allocate(kMiB);
  void* b = heap.allocate(2 * kMiB);
  void* c = heap.allocate(kMiB);
  ASSERT_TRUE(a && b && c);
  const size_t left = heap.gaps();
  heap.release(b, 2 * kMiB);
  EXPECT_EQ(heap.gaps(), left + 2 * kMiB + LargeHeap::kGranule);
  heap.release(a, kMiB);
  heap.release(c, kMiB);
  EXPECT_EQ(heap.gaps(), 0u);  // of a whole chunk nothing is kept
}

TEST(LargeHeap, BlocksOfOneSizeBeginInOtherSetsOfACache) {
  LargeHeap heap;
  auto* a = static_cast<char*>(heap.allocate(kMiB));
  auto* b = static_cast<char*>(heap.allocate(kMiB));
  EXPECT_NE((a - b) % ptrdiff_t(kMiB), 0);
  EXPECT_EQ((a - b) % ptrdiff_t(LargeHeap::kGranule), 0);
  heap.release(a, kMiB);
  heap.release(b, kMiB);
}

TEST(LargeHeap, TheLargestBlockFits) {
  LargeHeap heap;
  auto* block = static_cast<char*>(heap.allocate(LargeHeap::kMaxBlock));
  ASSERT_TRUE(block);
  block[0] = block[LargeHeap::kMaxBlock - 1] = 1;
  heap.release(block, LargeHeap::kMaxBlock);
  EXPECT_EQ(heap.gaps(), 0u);
}

// Every block keeps what was written to both of its ends.
void churn(LargeHeap& heap, unsigned seed) {
  struct Block {
    char* data;
    size_t size;
    char mark;
  };
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  for (int i = 0; i < 400; ++i) {
    if (blocks.size() > 12 || (random() % 2 && !blocks.empty())) {
      const size_t at = random() % blocks.size();
      const Block block = blocks[at];
      blocks[at] = blocks.back();
      blocks.pop_back();
      ASSERT_EQ(block.data[0], block.mark);
      ASSERT_EQ(block.data[block.size - 1], block.mark);
      heap.release(block.data, block.size);
      continue;
    }
    const size_t size = (8 + random() % 64) * (size_t{64} << 10);
    auto* data = static_cast<char*>(heap.allocate(size));
    ASSERT_TRUE(data);
    const auto mark = char(random());
    data[0] = data[size - 1] = mark;
    blocks.push_back({data, size, mark});
  }
  for (const Block& block : blocks) {
    ASSERT_EQ(block.data[0], block.mark);
    heap.release(block.data, block.size);
  }
}

TEST(LargeHeap, ThreadsShareIt) {
  LargeHeap heap;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&heap, seed] { churn(heap, seed); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heap.gaps(), 0u);
}

}  // namespace
}  // namespace hotaru::cpu
