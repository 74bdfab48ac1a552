#include "hotaru/runtime/threads/scheduler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/runtime/threads/cpu_count.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

class SchedulerTest : public ::testing::Test {
 protected:
  ~SchedulerTest() override { set_num_threads(saved_); }
  int saved_ = get_num_threads();
};

/// Polls until the condition holds; a test that never gets there times out
/// with a failure after ten seconds.
template <class F>
bool eventually(const F& condition) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Workers that regions for so many and tasks may have started.
int most_workers(int for_regions) {
  return std::max(for_regions,
                  std::min(get_num_interop_threads(), usable_physical_cores()));
}

int64_t sum_in_parallel(int64_t n) {
  return parallel_reduce(
      0, n, 1, int64_t{0},
      [](int64_t b, int64_t e, int64_t sum) {
        for (; b < e; ++b) sum += b;
        return sum;
      },
      [](int64_t a, int64_t b) { return a + b; });
}

TEST_F(SchedulerTest, ManyCallersShareFewWorkers) {
  set_num_threads(3);
  const int limit = most_workers(2);
  // Workers of earlier tests end soon, but not at once.
  ASSERT_TRUE(
      eventually([&] { return Scheduler::instance().num_workers() <= limit; }));
  std::atomic<int> wrong{0}, most{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        if (sum_in_parallel(100) != 4950) ++wrong;
        most = std::max(most.load(), Scheduler::instance().num_workers());
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GE(most.load(), 2);
  EXPECT_LE(most.load(), limit);
}

TEST_F(SchedulerTest, MoreCallersThanSlotsStillFinish) {
  set_num_threads(2);
  std::atomic<int> ready{0}, wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 80; ++i) {
    callers.emplace_back([&] {
      if (sum_in_parallel(100) != 4950) ++wrong;  // takes a slot
      ++ready;
      while (ready.load() < 80) std::this_thread::yield();
      if (sum_in_parallel(101) != 5050) ++wrong;
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(SchedulerTest, WorkersReallyRunChunks) {
  set_num_threads(2);
  // Each chunk waits for the other, so one thread alone would never finish.
  std::atomic<int> inside{0}, met{0};
  parallel_for(0, 2, 1, [&](int64_t, int64_t) {
    ++inside;
    if (eventually([&] { return inside.load() == 2; })) ++met;
  });
  EXPECT_EQ(met.load(), 2);
}

TEST_F(SchedulerTest, SurplusWorkersEnd) {
  set_num_threads(5);
  sum_in_parallel(100);
  EXPECT_GE(Scheduler::instance().num_workers(), 4);
  set_num_threads(2);
  EXPECT_TRUE(eventually(
      [] { return Scheduler::instance().num_workers() <= most_workers(1); }));
  EXPECT_EQ(sum_in_parallel(100), 4950);
}

TEST_F(SchedulerTest, LaunchedTasksRunEvenWithOneThread) {
  set_num_threads(1);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    launch([&ran] {
      EXPECT_FALSE(in_parallel_region());
      ++ran;
    });
  }
  EXPECT_TRUE(eventually([&] { return ran.load() == 100; }));
  EXPECT_GE(Scheduler::instance().num_workers(), 1);
  EXPECT_LE(Scheduler::instance().num_workers(), usable_physical_cores());
}

TEST_F(SchedulerTest, TasksThatThrowDoNotStopThePool) {
  Completion done;
  launch([] { throw std::runtime_error("dropped"); });
  launch([&] { done.set(); });
  done.wait();
  EXPECT_TRUE(done.is_set());
}

TEST_F(SchedulerTest, TasksUseTheSameWorkersForTheirLoops) {
  set_num_threads(2);
  std::deque<Completion> done(50);
  std::atomic<int> wrong{0};
  for (Completion& each : done) {
    launch([&] {
      if (sum_in_parallel(1000) != 499500) ++wrong;
      each.set();
    });
  }
  for (Completion& each : done) each.wait();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_TRUE(eventually(
      [] { return Scheduler::instance().num_workers() <= most_workers(1); }));
}

TEST_F(SchedulerTest, WaitingInsideTasksCannotStarveThePool) {
  set_num_threads(2);
  std::deque<Completion> links(20);
  for (size_t i = 0; i + 1 < links.size(); ++i) {
    launch([&links, i] {
      links[i + 1].wait();
      links[i].set();
    });
  }
  launch([&links] { links.back().set(); });
  links.front().wait();
  EXPECT_TRUE(links.front().is_set());
}

TEST_F(SchedulerTest, InteropThreadsLimitTheTasksThatRun) {
  const int saved = get_num_interop_threads();
  for (int limit : {1, 2}) {
    set_num_interop_threads(limit, true);
    std::atomic<int> running{0}, most{0}, ran{0};
    for (int i = 0; i < 50; ++i) {
      launch([&] {
        const int now = ++running;
        int seen = most.load();
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --running;
        ++ran;
        Scheduler::instance().notify();
      });
    }
    Scheduler::instance().wait_until([&] { return ran.load() == 50; });
    EXPECT_LE(most.load(), limit);
  }
  set_num_interop_threads(saved, true);
}

TEST_F(SchedulerTest, TasksThatWaitDoNotCountAsRunning) {
  const int saved = get_num_interop_threads();
  set_num_interop_threads(1, true);
  Completion inner, outer;
  launch([&] {
    launch([&] { inner.set(); });
    inner.wait();
    outer.set();
  });
  outer.wait();
  EXPECT_TRUE(inner.is_set());
  set_num_interop_threads(saved, true);
}

TEST_F(SchedulerTest, TwoTasksRunAtOnceWhileTheirLauncherIsBusy) {
  if (usable_physical_cores() < 2) GTEST_SKIP() << "one core has one worker";
  set_num_threads(1);
  std::atomic<int> inside{0}, met{0};
  for (int i = 0; i < 2; ++i) {
    launch([&] {
      ++inside;
      if (eventually([&] { return inside.load() == 2; })) ++met;
    });
  }
  EXPECT_TRUE(eventually([&] { return met.load() == 2; }));
}

TEST_F(SchedulerTest, InteropThreadsAreSetOnceUnlessForced) {
  const int saved = get_num_interop_threads();
  launch([] {});
  try {
    set_num_interop_threads(3);
    ADD_FAILURE() << "no exception";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "Error: cannot set number of interop threads after parallel "
                 "work has started or set_num_interop_threads called");
  }
  set_num_interop_threads(3, true);
  EXPECT_EQ(get_num_interop_threads(), 3);
  EXPECT_THROW(set_num_interop_threads(0, true), Error);
  set_num_interop_threads(saved, true);
}

TEST_F(SchedulerTest, WaitUntilRunsWorkAndSeesWhatWasWrittenBeforeNotify) {
  set_num_threads(1);
  Scheduler& scheduler = Scheduler::instance();
  for (int round = 0; round < 2000; ++round) {
    int value = 0;
    std::atomic<bool> ready{false};
    std::thread writer([&] {
      launch([&] {
        value = round;
        ready.store(true, std::memory_order_release);
        scheduler.notify();
      });
    });
    scheduler.wait_until([&] { return ready.load(std::memory_order_acquire); });
    EXPECT_EQ(value, round);
    writer.join();
  }
}

TEST_F(SchedulerTest, IdleWorkersUseNoProcessorTime) {
  set_num_threads(3);
  sum_in_parallel(100);
  auto cpu_time = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
  };
  // The pool must come to rest: 50 ms in which it used less than 1 ms.
  EXPECT_TRUE(eventually([&] {
    double before = cpu_time();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return cpu_time() - before < 1;
  }));
}

#if !defined(__SANITIZE_THREAD__)  // TSan forbids threads after a fork
TEST_F(SchedulerTest, ForkedChildHasItsOwnPool) {
  set_num_threads(3);
  sum_in_parallel(100);
  launch([] {});
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    bool good = get_num_threads() == 3 &&
                Scheduler::instance().num_workers() == 0 &&
                sum_in_parallel(100) == 4950;
    Completion done;
    launch([&] { done.set(); });
    done.wait();
    _exit(good && Scheduler::instance().num_workers() >= 2 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(sum_in_parallel(100), 4950);
}
#endif

}  // namespace
}  // namespace hotaru
