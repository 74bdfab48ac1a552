#include "hotaru/runtime/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "hotaru/core/error.h"

namespace hotaru {
namespace {

using Ranges = std::set<std::pair<int64_t, int64_t>>;

class ParallelTest : public ::testing::Test {
 protected:
  ~ParallelTest() override { set_num_threads(saved_); }
  int saved_ = get_num_threads();
};

Ranges chunks_of(int64_t begin, int64_t end, int64_t grain) {
  Ranges seen;
  std::mutex mutex;
  parallel_for(begin, end, grain, [&](int64_t b, int64_t e) {
    std::lock_guard lock(mutex);
    EXPECT_TRUE(seen.emplace(b, e).second);
  });
  return seen;
}

TEST_F(ParallelTest, CutsRangesAsAtensOpenMpBackEnd) {
  set_num_threads(4);
  EXPECT_EQ(chunks_of(0, 100, 30),
            (Ranges{{0, 25}, {25, 50}, {50, 75}, {75, 100}}));
  EXPECT_EQ(chunks_of(0, 100, 60), (Ranges{{0, 50}, {50, 100}}));
  EXPECT_EQ(chunks_of(0, 100, 100), (Ranges{{0, 100}}));
  EXPECT_EQ(chunks_of(3, 8, 0), (Ranges{{3, 5}, {5, 7}, {7, 8}}));
  EXPECT_EQ(chunks_of(7, 8, 0), (Ranges{{7, 8}}));
  EXPECT_EQ(chunks_of(8, 8, 0), Ranges{});
  EXPECT_EQ(chunks_of(9, 8, 0), Ranges{});
}

TEST_F(ParallelTest, VisitsEachIndexOnceInManyRegions) {
  set_num_threads(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> visits(round % 50 + 1, 0);
    parallel_for(0, visits.size(), 1, [&](int64_t b, int64_t e) {
      for (; b < e; ++b) ++visits[b];
    });
    ASSERT_EQ(visits, std::vector<int>(visits.size(), 1)) << round;
  }
}

TEST_F(ParallelTest, ThreadNumbersAreDistinctAndNestedLoopsRunInline) {
  set_num_threads(4);
  EXPECT_FALSE(in_parallel_region());
  std::mutex mutex;
  std::multiset<int> numbers;
  parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    EXPECT_TRUE(in_parallel_region());
    const int number = get_thread_num();
    const auto thread = std::this_thread::get_id();
    int inner = 0;
    parallel_for(0, 1000, 1, [&](int64_t b, int64_t e) {
      EXPECT_EQ(e - b, 1000);
      EXPECT_EQ(get_thread_num(), 0);
      EXPECT_EQ(std::this_thread::get_id(), thread);
      ++inner;
    });
    EXPECT_EQ(inner, 1);
    EXPECT_EQ(get_thread_num(), number);
    std::lock_guard lock(mutex);
    numbers.insert(number);
  });
  EXPECT_EQ(numbers, (std::multiset<int>{0, 1, 2, 3}));
  EXPECT_FALSE(in_parallel_region());
}

TEST_F(ParallelTest, SmallRangesAreNoRegion) {
  set_num_threads(4);
  parallel_for(0, 10, 10,
               [](int64_t, int64_t) { EXPECT_FALSE(in_parallel_region()); });
}

TEST_F(ParallelTest, RethrowsAfterAllChunksFinished) {
  set_num_threads(4);
  for (int thrower = 0; thrower < 4; ++thrower) {
    std::atomic<int> finished{0};
    try {
      parallel_for(0, 4, 1, [&](int64_t b, int64_t) {
        finished.fetch_add(1);
        if (b == thrower) fail<IndexError>("chunk ", b);
      });
      ADD_FAILURE() << "no exception";
    } catch (const IndexError& error) {
      EXPECT_EQ(error.what(), "chunk " + std::to_string(thrower));
    }
    EXPECT_EQ(finished.load(), 4);
  }
}

TEST_F(ParallelTest, ReducesInOrderOfPosition) {
  auto concatenation = [](int64_t n) {
    return parallel_reduce(
        0, n, 1, std::string(),
        [](int64_t b, int64_t e, std::string text) {
          for (; b < e; ++b) text += static_cast<char>('a' + b);
          return text;
        },
        [](const std::string& a, const std::string& b) { return a + b; });
  };
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    EXPECT_EQ(concatenation(26), "abcdefghijklmnopqrstuvwxyz") << threads;
    EXPECT_EQ(concatenation(0), "");
  }
}

TEST_F(ParallelTest, ReduceOfBoolIsFreeOfSharing) {
  set_num_threads(4);
  bool all = parallel_reduce(
      0, 64, 1, true, [](int64_t, int64_t e, bool) { return e != 64; },
      [](bool a, bool b) { return a && b; });
  EXPECT_FALSE(all);
}

TEST_F(ParallelTest, RejectsNonPositiveThreadCounts) {
  for (int count : {0, -1}) {
    try {
      set_num_threads(count);
      ADD_FAILURE() << "no exception";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "Expected positive number of threads");
    }
  }
  set_num_threads(7);
  EXPECT_EQ(get_num_threads(), 7);
}

TEST_F(ParallelTest, InfoNamesCountsAndBackEnd) {
  set_num_threads(3);
  std::string info = parallel_info();
  EXPECT_NE(info.find("get_num_threads() : 3\n"), std::string::npos) << info;
  EXPECT_NE(info.find("native thread pool"), std::string::npos) << info;
}

}  // namespace
}  // namespace hotaru
