// Sixteen application threads use the pool in every way at once for a while:
// HOTARU_SOAK_SECONDS, 5 if it is not set.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hotaru/runtime/threads/cpu_count.h"
#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {
namespace {

constexpr int kCallers = 16;

/// Threads of this process, and those of them that are the pool's.
struct ThreadCount {
  int all = 0, workers = 0;
};

ThreadCount count_threads() {
  ThreadCount count;
  std::error_code gone;  // threads may end while we look
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    ++count.all;
    count.workers += name == "hotaru-worker";
  }
  return count;
}

/// Record of what one caller did and what had to come of it.
struct Ledger {
  std::atomic<int64_t> launched{0}, ran{0}, loops{0}, wrong{0};
};

void sum_loop(Ledger& ledger, int64_t n) {
  const int64_t sum = parallel_reduce(
      0, n, 1, int64_t{0},
      [](int64_t b, int64_t e, int64_t total) {
        for (; b < e; ++b) total += b;
        return total;
      },
      [](int64_t a, int64_t b) { return a + b; });
  if (sum != n * (n - 1) / 2) ++ledger.wrong;
  ++ledger.loops;
}

void throwing_loop(Ledger& ledger, int64_t n) {
  std::atomic<int64_t> visited{0};
  try {
    parallel_for(0, n, 1, [&](int64_t b, int64_t e) {
      visited += e - b;
      throw std::runtime_error("wanted");
    });
    ++ledger.wrong;
  } catch (const std::runtime_error&) {
    if (visited != n) ++ledger.wrong;
  }
  ++ledger.loops;
}

void nested_loop(Ledger& ledger, int64_t n) {
  std::atomic<int64_t> visited{0};
  parallel_for(0, 3, 1, [&](int64_t b, int64_t e) {
    for (; b < e; ++b)
      nested_parallel_for(0, n, 1,
                          [&](int64_t c, int64_t d) { visited += d - c; });
  });
  if (visited != 3 * n) ++ledger.wrong;
  ++ledger.loops;
}

/// Tasks that loop, launch a task each and wait for it.
void tasks(Ledger& ledger, int count) {
  std::deque<Completion> done(count);
  for (Completion& each : done) {
    ledger.launched += 2;
    launch([&] {
      Completion inner;
      launch([&] {
        ++ledger.ran;
        inner.set();
      });
      sum_loop(ledger, 100);
      inner.wait();
      ++ledger.ran;
      each.set();
    });
  }
  for (Completion& each : done) each.wait();
}

TEST(Soak, SixteenCallersLoseNothingAndStartNoThreadTooMany) {
  const char* text = std::getenv("HOTARU_SOAK_SECONDS");
  const double seconds = text ? std::atof(text) : 5;
  const int cores = usable_physical_cores();
  const int saved = get_num_threads();
  set_num_threads(cores);
  const int limit =
      std::max(cores - 1, std::min(get_num_interop_threads(), cores));
  while (Scheduler::instance().num_workers() > limit)
    std::this_thread::yield();  // those of earlier tests end
  // Sanitizers start a thread of their own with the first.
  std::thread([] {}).join();
  ThreadCount before = count_threads();
  while (before.workers > limit) before = count_threads();  // ending still
  const int others = before.all - before.workers;

  std::atomic<bool> over{false};
  std::deque<Ledger> ledgers(kCallers);
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      std::minstd_rand random(i + 1);
      while (!over.load(std::memory_order_relaxed)) {
        const int64_t n = 2 + random() % 200;
        switch (random() % 8) {
          case 0:
            throwing_loop(ledgers[i], n);
            break;
          case 1:
            nested_loop(ledgers[i], n);
            break;
          case 2:
            tasks(ledgers[i], 1 + random() % 4);
            break;
          case 3:  // workers fall asleep now and then
            std::this_thread::sleep_for(std::chrono::microseconds(n));
            break;
          default:
            sum_loop(ledgers[i], n);
        }
      }
    });
  }
  ThreadCount most;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    const ThreadCount now = count_threads();
    most.all = std::max(most.all, now.all);
    most.workers = std::max(most.workers, now.workers);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  over = true;
  for (auto& caller : callers) caller.join();

  for (const Ledger& ledger : ledgers) {
    EXPECT_EQ(ledger.wrong, 0);
    EXPECT_EQ(ledger.ran, ledger.launched);
    EXPECT_GT(ledger.loops, 0);  // nobody starved
  }
  EXPECT_LE(most.workers, cores);
  EXPECT_LE(most.all - others - kCallers, cores);
  set_num_threads(saved);
}

}  // namespace
}  // namespace hotaru
