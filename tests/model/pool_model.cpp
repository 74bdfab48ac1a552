// Model checking of the pool: each test is a small program of two or three
// threads that Relacy runs under many schedules. A lost wake-up shows as a
// deadlock, a chunk or task lost or run twice as a failed assertion, an owner
// that leaves too early as a race on the region.
#include <algorithm>

#include "model_traits.h"

namespace hotaru::model {
namespace {

using Slot = RegionSlot<Traits>;

/// One owner offers three regions after another on one slot; thieves may be
/// slow and meet a later one with what they read of an earlier one.
struct ClaimsAreExclusive : rl::test_suite<ClaimsAreExclusive, 3> {
  Slot slot;

  void thread(unsigned index) {
    if (index > 0) {
      for (int look = 0; look < 2; ++look) {
        const int64_t chunk = slot.claim();
        if (chunk < 0) continue;
        Traits::run_chunk(slot.region(), chunk, true);
        slot.finish();
      }
      return;
    }
    for (int64_t chunks : {3, 2, 2}) {
      Region region;
      slot.offer(region, chunks);
      Traits::run_chunk(region, 0, false);
      auto stolen = static_cast<uint32_t>(chunks - 1);
      for (int64_t chunk; (chunk = slot.claim()) >= 0; --stolen)
        Traits::run_chunk(region, chunk, false);
      if (!slot.finished(stolen)) slot.sleep_until_finished(stolen);
      for (int i = 0; i < chunks; ++i) RL_ASSERT(region.ran[i] == 1);
    }
  }
};

/// A sleeper waits for a plain value; the flag that publishes it is written
/// with the weakest order that wake_all() allows.
struct NoLostWakeUp : rl::test_suite<NoLostWakeUp, 3> {
  Parking<Traits> parking;
  Atomic<int> flags{0};
  Plain<int> first{0}, second{0};

  void thread(unsigned index) {
    if (index == 0) {
      auto both = [&] { return flags.load(std::memory_order_acquire) == 2; };
      while (!both()) parking.park(both);
      RL_ASSERT(first == 1 && second == 1);
      return;
    }
    (index == 1 ? first : second) = 1;
    flags.fetch_add(1, std::memory_order_release);
    parking.wake_all();
  }
};

/// Setting that launches, worker and waiter have in common. Every test below
/// has a worker that serves until `over`.
template <class Test, int threads>
struct WithPool : rl::test_suite<Test, threads> {
  explicit WithPool(int limit = 8, int width = threads) : pool(limit, width) {
    for (bool& flag : Traits::tasks_flag) flag = false;
  }

  struct Count : Task {
    WithPool* test = nullptr;
    Plain<int> ran{0};
    void run() override {
      ran = ran + 1;
      test->ended.fetch_add(1, std::memory_order_release);
      test->pool.notify();
      test->pool.wake_workers();  // that serve until enough have ended
    }
  };

  void serve() {
    auto stop = [&] { return over.load() != 0; };
    while (!stop())
      if (!pool.search(1, stop)) pool.park(stop);
  }
  void end() {
    over.store(1);
    pool.wake_workers();
  }
  auto ended_all(int count) {
    return [this, count] {
      return ended.load(std::memory_order_acquire) == count;
    };
  }

  Pool<Traits> pool;
  Atomic<int> ended{0};
  Atomic<int> over{0};
};

/// Two regions in a row while a worker goes to sleep and wakes.
struct ForkJoinWithSleepers : WithPool<ForkJoinWithSleepers, 2> {
  void thread(unsigned index) {
    if (index == 1) return serve();
    auto* slot = pool.acquire_slot();
    for (int round = 0; round < 2; ++round) {
      Region region;
      pool.fork_join(*slot, region, 3, false);
      for (auto& ran : region.ran) RL_ASSERT(ran == 1);
    }
    pool.release_slot(slot);
    end();
  }
};

/// Two callers share one worker, of which only one at a time gets any help.
struct TwoCallers : WithPool<TwoCallers, 3> {
  TwoCallers() : WithPool(8, 2) {}

  void thread(unsigned index) {
    if (index == 2) return serve();
    auto* slot = pool.acquire_slot();
    Region region;
    pool.fork_join(*slot, region, 2, false);
    RL_ASSERT(region.ran[0] == 1 && region.ran[1] == 1);
    pool.release_slot(slot);
    if (ended.fetch_add(1) == 1) end();
  }
};

/// Nobody waits for the tasks but a worker that sleeps: each launch must reach
/// it.
struct LaunchWakesTheWorker : WithPool<LaunchWakesTheWorker, 3> {
  Count tasks[2];

  void thread(unsigned index) {
    if (index < 2) {
      tasks[index].test = this;
      pool.launch(tasks[index]);
      return;
    }
    auto stop = ended_all(2);
    while (!stop())
      if (!pool.search(1, stop)) pool.park(stop);
    RL_ASSERT(tasks[0].ran == 1 && tasks[1].ran == 1);
  }
};

/// A waiter leaves when its own task ended, at most one task runs at a time,
/// and the other task must still be run by the worker.
struct LimitOfOne : WithPool<LimitOfOne, 3> {
  Count tasks[2];
  LimitOfOne() : WithPool(1) {}

  void thread(unsigned index) {
    if (index == 2) return serve();
    Count& task = tasks[index];
    task.test = this;
    pool.launch(task);
    auto mine = [&] { return ended.load(std::memory_order_acquire) > 0; };
    pool.wait_until(mine);
    if (index == 0) {
      pool.wait_until(ended_all(2));
      RL_ASSERT(tasks[0].ran == 1 && tasks[1].ran == 1);
      end();
    }
  }
};

/// At most one task runs at a time: while the waiter runs the first one, the
/// worker finds the second held back and sleeps. The waiter then goes away, so
/// it has to wake the worker.
struct WaiterLeavesATaskBehind : WithPool<WaiterLeavesATaskBehind, 2> {
  Count tasks[2];
  WaiterLeavesATaskBehind() : WithPool(1) {}

  void thread(unsigned index) {
    if (index == 1) {
      auto stop = ended_all(2);
      while (!stop())
        if (!pool.search(1, stop)) pool.park(stop);
      RL_ASSERT(tasks[0].ran == 1 && tasks[1].ran == 1);
      return;
    }
    for (Count& task : tasks) {
      task.test = this;
      pool.launch(task);
    }
    pool.wait_until([&] { return ended.load(std::memory_order_acquire) > 0; });
  }
};

/// A task waits for the one behind it although only one may run at a time.
struct WaitInsideATask : WithPool<WaitInsideATask, 2> {
  WaitInsideATask() : WithPool(1) {}

  struct Waits : Task {
    WaitInsideATask* test = nullptr;
    void run() override {
      test->pool.wait_until(test->ended_all(1));
      test->both.store(1, std::memory_order_release);
      test->pool.notify();
    }
  };
  Waits waits;
  Count counts;
  Atomic<int> both{0};

  void thread(unsigned index) {
    if (index == 1) return serve();
    waits.test = this;
    counts.test = this;
    pool.launch(waits);
    pool.launch(counts);
    pool.wait_until([&] { return both.load(std::memory_order_acquire) == 1; });
    RL_ASSERT(counts.ran == 1);
    end();
  }
};

/// A region and a task at once: the wake-up for one must not swallow the
/// other's.
struct RegionAndTask : WithPool<RegionAndTask, 3> {
  Count task;

  void thread(unsigned index) {
    if (index == 2) return serve();
    if (index == 1) {
      task.test = this;
      pool.launch(task);
      return;
    }
    auto* slot = pool.acquire_slot();
    Region region;
    pool.fork_join(*slot, region, 2, false);
    RL_ASSERT(region.ran[0] == 1 && region.ran[1] == 1);
    pool.wait_until(ended_all(1));
    RL_ASSERT(task.ran == 1);
    end();
  }
};

/// Runs a test under random schedules and under every one with at most so many
/// preemptions. False if a schedule failed; its history is printed.
template <class Test>
bool holds(const char* name, rl::iteration_t random, unsigned preemptions) {
  bool good = true;
  for (auto search : {rl::sched_random, rl::sched_bound}) {
    rl::ostringstream report;  // which leaves relacy's operator new alone
    rl::test_params params;
    params.search_type = search;
    params.iteration_count = random;
    params.context_bound = preemptions;
    params.execution_depth_limit = 10000;
    params.output_stream = params.progress_stream = &report;
    const auto start = std::chrono::steady_clock::now();
    const bool passed = rl::simulate<Test>(params);
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    std::cout << (passed ? "pass " : "FAIL ") << name << ", "
              << rl::format(search) << ": " << params.stop_iteration
              << " schedules in " << took.count() << " s" << std::endl;
    if (!passed) std::cout << report.str() << std::endl;
    good = good && passed;
  }
  return good;
}

}  // namespace
}  // namespace hotaru::model

/// Argument: random schedules for each test (default 300000).
int main(int argc, char** argv) {
  using namespace hotaru::model;
  const auto n =
      static_cast<rl::iteration_t>(argc > 1 ? std::atol(argv[1]) : 300000);
  const bool good[] = {
      holds<ClaimsAreExclusive>("ClaimsAreExclusive", n, 2),
      holds<NoLostWakeUp>("NoLostWakeUp", n, 1),
      holds<ForkJoinWithSleepers>("ForkJoinWithSleepers", n, 1),
      holds<TwoCallers>("TwoCallers", n, 0),
      holds<LaunchWakesTheWorker>("LaunchWakesTheWorker", n, 0),
      holds<LimitOfOne>("LimitOfOne", n, 0),
      holds<WaiterLeavesATaskBehind>("WaiterLeavesATaskBehind", n, 1),
      holds<WaitInsideATask>("WaitInsideATask", n, 1),
      holds<RegionAndTask>("RegionAndTask", n, 0),
  };
  return std::all_of(std::begin(good), std::end(good), [](bool g) { return g; })
             ? 0
             : 1;
}
