// Cost of entering and leaving a parallel loop whose body does nothing, with
// each back end through hotaru's interface and with OpenMP and TBB themselves.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/runtime/threads/parallel_backend.h"

#ifdef HOTARU_BENCH_OPENMP
#include <omp.h>
#endif
#ifdef HOTARU_BENCH_TBB
#include <tbb/parallel_for.h>
#endif

namespace {

using Clock = std::chrono::steady_clock;

void empty_body(int64_t b, int64_t e) {
  benchmark::DoNotOptimize(b);
  benchmark::DoNotOptimize(e);
}

/// Runs a fork-join of two threads per iteration. Argument 0: microseconds of
/// sleep before each; reported are the median and what the process used of the
/// processor while it slept.
template <class F>
void fork_join(benchmark::State& state, const F& region) {
  const std::chrono::microseconds pause(state.range(0));
  region();
  std::vector<double> times;
  double idle_cpu = 0;
  auto cpu_time = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
  };
  // Many back to back regions share one reading of the clock.
  const int inner = pause.count() > 0 ? 1 : 100;
  for (auto _ : state) {
    if (pause.count() > 0) {
      const double before = cpu_time();
      std::this_thread::sleep_for(pause);
      idle_cpu += cpu_time() - before;
    }
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < inner; ++i) region();
    const double took =
        std::chrono::duration<double>(Clock::now() - start).count() / inner;
    state.SetIterationTime(took);
    times.push_back(took);
  }
  std::nth_element(times.begin(), times.begin() + long(times.size() / 2),
                   times.end());
  state.counters["median_us"] = times[times.size() / 2] * 1e6;
  if (pause.count() > 0)
    state.counters["idle_cpu_us"] = idle_cpu / double(state.iterations()) * 1e6;
}

void with_back_end(benchmark::State& state, const std::string& name) {
  hotaru::set_num_threads(2);
  hotaru::set_parallel_backend(name);
  fork_join(state, [] { hotaru::parallel_for(0, 2, 1, empty_body); });
  hotaru::set_parallel_backend("native");
}

#ifdef HOTARU_BENCH_OPENMP
void openmp_itself(benchmark::State& state) {
  fork_join(state, [] {
#pragma omp parallel num_threads(2)
    empty_body(omp_get_thread_num(), 2);
  });
}
#endif

#ifdef HOTARU_BENCH_TBB
void tbb_itself(benchmark::State& state) {
  fork_join(state, [] {
    tbb::parallel_for(
        int64_t{0}, int64_t{2}, [](int64_t i) { empty_body(i, i + 1); },
        tbb::static_partitioner());
  });
}
#endif

/// Both threads work: the loop's time over half of the serial time is what the
/// division costs. Argument 0: threads; argument 1: rounds of a dependent sum.
void divided_work(benchmark::State& state) {
  hotaru::set_num_threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    hotaru::parallel_for(0, 2, 1, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        int64_t x = i;
        for (int64_t j = 0; j < state.range(1); ++j)
          benchmark::DoNotOptimize(x += j);
      }
    });
  }
}

/// An outer loop of which one chunk holds all work, in a loop of its own: what
/// idle workers can make of that. Argument 0: rounds; argument 1: whether they
/// may.
void nested_work(benchmark::State& state) {
  hotaru::set_num_threads(2);
  auto inner = [&](int64_t b, int64_t e) {
    int64_t x = b;
    for (int64_t j = 0; j < state.range(0) * (e - b); ++j)
      benchmark::DoNotOptimize(x += j);
  };
  for (auto _ : state) {
    hotaru::parallel_for(0, 2, 1, [&](int64_t begin, int64_t) {
      if (begin == 1) return;
      if (state.range(1))
        hotaru::nested_parallel_for(0, 100, 1, inner);
      else
        hotaru::parallel_for(0, 100, 1, inner);
    });
  }
}

/// Both chunks of the outer loop hold the same work: what the offer costs where
/// nobody is idle. Arguments as above.
void nested_balanced(benchmark::State& state) {
  hotaru::set_num_threads(2);
  auto inner = [&](int64_t b, int64_t e) {
    int64_t x = b;
    for (int64_t j = 0; j < state.range(0) * (e - b); ++j)
      benchmark::DoNotOptimize(x += j);
  };
  for (auto _ : state) {
    hotaru::parallel_for(0, 2, 1, [&](int64_t, int64_t) {
      if (state.range(1))
        hotaru::nested_parallel_for(0, 100, 1, inner);
      else
        hotaru::parallel_for(0, 100, 1, inner);
    });
  }
}

/// Application threads that each call something made of three loops, 0.3 ms on
/// two idle cores: all calls per second, and one thread's median and 99th
/// percentile, averaged over the threads.
void many_callers(benchmark::State& state) {
  if (state.thread_index() == 0) hotaru::set_num_threads(2);
  std::vector<double> times;
  Clock::time_point before = Clock::now();
  for (auto _ : state) {
    for (int loop = 0; loop < 3; ++loop) {
      hotaru::parallel_for(0, 2, 1, [](int64_t b, int64_t e) {
        double x = double(b);
        for (int64_t j = 0; j < 30000 * (e - b); ++j)
          benchmark::DoNotOptimize(x = x * 1.0000001 + 0.1);
      });
    }
    const Clock::time_point now = Clock::now();
    times.push_back(
        std::chrono::duration<double, std::micro>(now - before).count());
    before = now;
  }
  std::sort(times.begin(), times.end());
  const auto each = benchmark::Counter::kAvgThreads;
  state.counters["p50_us"] = {times[times.size() / 2], each};
  state.counters["p99_us"] = {times[times.size() * 99 / 100], each};
  state.counters["calls"] = {double(times.size()), benchmark::Counter::kIsRate};
}

void as_fork_join(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMicrosecond);
  bench->Arg(0)->Arg(100);
  bench->Arg(2000)->Iterations(500);
}

[[maybe_unused]] const bool registered = [] {
  for (const std::string& name : hotaru::parallel_backends())
    as_fork_join(benchmark::RegisterBenchmark(
        ("fork_join/" + name).c_str(),
        [name](benchmark::State& state) { with_back_end(state, name); }));
  return true;
}();

#ifdef HOTARU_BENCH_OPENMP
BENCHMARK(openmp_itself)->Apply(as_fork_join);
#endif
#ifdef HOTARU_BENCH_TBB
BENCHMARK(tbb_itself)->Apply(as_fork_join);
#endif
BENCHMARK(divided_work)->ArgsProduct({{1, 2}, {1000, 10000}});
BENCHMARK(many_callers)->ThreadRange(1, 16)->UseRealTime()->MinTime(1);
BENCHMARK(nested_work)->ArgsProduct({{10, 1000}, {0, 1}})->UseRealTime();
BENCHMARK(nested_balanced)->ArgsProduct({{10, 1000}, {0, 1}})->UseRealTime();

}  // namespace
