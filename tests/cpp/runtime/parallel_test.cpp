#include "hotaru/runtime/threads/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/runtime/threads/parallel_backend.h"
#include "hotaru/runtime/threads/scheduler.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru {
namespace {

using Ranges = std::set<std::pair<int64_t, int64_t>>;

/// Everything holds with every back end of the build.
class ParallelTest : public ::testing::TestWithParam<std::string> {
 protected:
  ParallelTest() { set_parallel_backend(GetParam()); }
  ~ParallelTest() override {
    set_num_threads(saved_);
    set_parallel_backend("native");
  }
  int saved_ = get_num_threads();
};

INSTANTIATE_TEST_SUITE_P(BackEnds, ParallelTest,
                         ::testing::ValuesIn(parallel_backends()),
                         [](const auto& info) { return info.param; });

Ranges chunks_of(int64_t begin, int64_t end, int64_t grain) {
  Ranges seen;
  std::mutex mutex;
  parallel_for(begin, end, grain, [&](int64_t b, int64_t e) {
    std::lock_guard lock(mutex);
    EXPECT_TRUE(seen.emplace(b, e).second);
  });
  return seen;
}

TEST_P(ParallelTest, CutsRangesAsAtensOpenMpBackEnd) {
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

TEST_P(ParallelTest, VisitsEachIndexOnceInManyRegions) {
  set_num_threads(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> visits(round % 50 + 1, 0);
    parallel_for(0, visits.size(), 1, [&](int64_t b, int64_t e) {
      for (; b < e; ++b) ++visits[b];
    });
    ASSERT_EQ(visits, std::vector<int>(visits.size(), 1)) << round;
  }
}

TEST_P(ParallelTest, ThreadNumbersAreDistinctAndNestedLoopsRunInline) {
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

TEST_P(ParallelTest, NestedLoopsAreCutAsOuterOnesWhoeverIsIdle) {
  set_num_threads(3);
  for (int round = 0; round < 200; ++round) {
    std::mutex mutex;
    std::multiset<std::pair<int64_t, int64_t>> seen;
    parallel_for(0, 2, 1, [&](int64_t, int64_t) {
      const int number = get_thread_num();
      nested_parallel_for(0, 10, 1, [&](int64_t b, int64_t e) {
        EXPECT_TRUE(in_parallel_region());
        EXPECT_EQ(get_thread_num(), b / 4);
        std::lock_guard lock(mutex);
        seen.emplace(b, e);
      });
      EXPECT_EQ(get_thread_num(), number);
    });
    EXPECT_EQ(seen, (std::multiset<std::pair<int64_t, int64_t>>{
                        {0, 4}, {0, 4}, {4, 8}, {4, 8}, {8, 10}, {8, 10}}));
  }
}

TEST(ParallelNested, IdleWorkersHelpWithNestedLoops) {
  const int saved = get_num_threads();
  set_num_threads(2);
  std::atomic<bool> met{false};
  parallel_for(0, 2, 1, [&](int64_t outer, int64_t) {
    if (outer == 1) return;  // and the worker is free again
    std::atomic<int> inside{0};
    nested_parallel_for(0, 2, 1, [&](int64_t, int64_t) {
      ++inside;
      const auto end =
          std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (inside < 2 && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
      if (inside == 2) met = true;
    });
  });
  EXPECT_TRUE(met);
  set_num_threads(saved);
}

TEST_P(ParallelTest, SmallRangesAreNoRegion) {
  set_num_threads(4);
  parallel_for(0, 10, 10,
               [](int64_t, int64_t) { EXPECT_FALSE(in_parallel_region()); });
}

TEST_P(ParallelTest, RethrowsAfterAllChunksFinished) {
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

TEST_P(ParallelTest, ReducesInOrderOfPosition) {
  auto concatenation = [](int64_t n) {
    return parallel_reduce(
        0, n, 1, std::string(),
        [](int64_t b, int64_t e, std::string text) {
          for (; b < e; ++b) text += char('a' + b);
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

TEST_P(ParallelTest, ReduceOfBoolIsFreeOfSharing) {
  set_num_threads(4);
  bool all = parallel_reduce(
      0, 64, 1, true, [](int64_t, int64_t e, bool) { return e != 64; },
      [](bool a, bool b) { return a && b; });
  EXPECT_FALSE(all);
}

TEST_P(ParallelTest, RejectsNonPositiveThreadCounts) {
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

TEST_P(ParallelTest, CallersShareOneSetOfThreads) {
  set_num_threads(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        std::vector<int> visits(5, 0);
        parallel_for(0, 5, 1, [&](int64_t b, int64_t e) {
          for (; b < e; ++b) ++visits[b];
        });
        if (visits != std::vector<int>(5, 1)) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(ParallelTest, ChunksReallyRunAtOnce) {
  set_num_threads(2);
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  // OpenMP's team belongs for a moment to the thread that used it last.
  std::atomic<bool> met{false};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!met && std::chrono::steady_clock::now() < end) {
    std::atomic<int> inside{0};
    parallel_for(0, 2, 1, [&](int64_t, int64_t) {
      ++inside;
      for (int i = 0; i < 1000 && inside.load() < 2; ++i)
        std::this_thread::yield();
      if (inside.load() == 2) met = true;
    });
  }
  EXPECT_TRUE(met);
}

TEST_P(ParallelTest, TasksMayRunLoops) {
  set_num_threads(2);
  std::atomic<int64_t> sum{0};
  std::deque<Completion> done(20);
  for (Completion& each : done) {
    launch([&] {
      parallel_for(0, 100, 1, [&](int64_t b, int64_t e) { sum += e - b; });
      each.set();
    });
  }
  for (Completion& each : done) each.wait();
  EXPECT_EQ(sum.load(), 2000);
}

TEST_P(ParallelTest, InfoHasPyTorchsLinesAndTheBackEnd) {
  set_num_threads(3);
  const std::string info = parallel_info();
  size_t at = 0;
  for (const char* line :
       {"ATen/Parallel:\n", "\tat::get_num_threads() : 3\n",
        "\tat::get_num_interop_threads() : ", "OpenMP ", "MKL not found\n",
        "MKLDNN not found\n", "std::thread::hardware_concurrency() : ",
        "Environment variables:\n", "\tOMP_NUM_THREADS : ",
        "\tMKL_NUM_THREADS : ", "ATen parallel backend: "}) {
    const size_t next = info.find(line, at);
    ASSERT_NE(next, std::string::npos) << line << " is not in\n" << info;
    at = next;
  }
  const std::map<std::string, std::string> labels = {
      {"native", "native thread pool\n"},
      {"openmp", "OpenMP\n"},
      {"tbb", "native thread pool and TBB\n"}};
  EXPECT_NE(
      info.find("ATen parallel backend: " + labels.at(parallel_backend())),
      std::string::npos);
  EXPECT_NE(info.find("\tthreading back end : " + GetParam()),
            std::string::npos);
}

TEST(ParallelBackends, UnknownNamesAreErrorsThatListTheKnown) {
  try {
    set_parallel_backend("qthreads");
    ADD_FAILURE() << "no exception";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "set_parallel_backend: unknown threading back end 'qthreads'; "
                 "known are native, openmp, tbb");
  }
  EXPECT_STREQ(parallel_backend(), "native");
}

TEST_P(ParallelTest, ForkedChildRunsLoops) {
  if (kThreadSanitizer) GTEST_SKIP() << "TSan forbids threads after a fork";
  set_num_threads(2);
  parallel_for(0, 100, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    std::atomic<int64_t> sum{0};
    parallel_for(0, 100, 1, [&](int64_t b, int64_t e) { sum += e - b; });
    const bool good = sum == 100 && std::string(parallel_backend()) == "native";
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace hotaru
