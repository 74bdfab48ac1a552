// Cost of entering and leaving a parallel loop whose body does nothing.
#include <benchmark/benchmark.h>

#include <thread>

#include "hotaru/runtime/parallel.h"

namespace {

/// Argument 0: threads; argument 1: microseconds of idleness before each loop.
void fork_join(benchmark::State& state) {
  hotaru::set_num_threads(static_cast<int>(state.range(0)));
  const std::chrono::microseconds pause(state.range(1));
  for (auto _ : state) {
    if (pause.count() > 0) {
      state.PauseTiming();
      std::this_thread::sleep_for(pause);
      state.ResumeTiming();
    }
    hotaru::parallel_for(0, state.range(0), 1, [](int64_t b, int64_t e) {
      benchmark::DoNotOptimize(b);
      benchmark::DoNotOptimize(e);
    });
  }
}

/// Both threads work: the loop's time over half of the serial time is what the
/// division costs. Argument 0: threads; argument 1: rounds of a dependent sum.
void divided_work(benchmark::State& state) {
  hotaru::set_num_threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    hotaru::parallel_for(0, 2, 1, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        int64_t x = i;
        for (int64_t j = 0; j < state.range(1); ++j) {
          benchmark::DoNotOptimize(x += j);
        }
      }
    });
  }
}

BENCHMARK(fork_join)->Args({1, 0})->Args({2, 0})->Args({2, 100});
BENCHMARK(fork_join)->Args({2, 2000})->Iterations(500);
BENCHMARK(divided_work)->ArgsProduct({{1, 2}, {1000, 10000}});

}  // namespace
