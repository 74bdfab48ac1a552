// Matrix multiplication as a share of the machine's peak of fused
// multiply-adds, which is measured first. "peak" in the output is that share.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "hotaru/backend/cpu/gemm.h"
#include "hotaru/runtime/parallel.h"

namespace {

using hotaru::MatrixRef;

#if defined(__x86_64__)
/// Flops per iteration of sixteen independent chains of multiply-adds.
template <int kBytes>
struct Chains {
  typedef float Vec __attribute__((vector_size(kBytes)));
  static constexpr double kFlops = 16.0 * 2 * kBytes / sizeof(float);
};

#define HOTARU_PEAK_LOOP(name, target_name, bytes) \
  __attribute__((target(target_name))) double name(int64_t rounds) { \
    using Vec = Chains<bytes>::Vec; \
    Vec x[16], a, b; \
    a = Vec{} + 0.999f; \
    b = Vec{} + 0.001f; \
    for (Vec & v : x) v = a; \
    for (int64_t r = 0; r < rounds; ++r) { \
      asm volatile("" : "+x"(a), "+x"(b)); \
      _Pragma("GCC unroll 16") for (Vec & v : x) v = v * a + b; \
    } \
    for (Vec & v : x) benchmark::DoNotOptimize(v); \
    return Chains<bytes>::kFlops * static_cast<double>(rounds); \
  }
HOTARU_PEAK_LOOP(peak_avx512, "avx512f,fma", 64)
HOTARU_PEAK_LOOP(peak_avx2, "avx2,fma", 32)
HOTARU_PEAK_LOOP(peak_sse2, "sse2", 16)
#undef HOTARU_PEAK_LOOP

double peak_loop(int64_t rounds) {
  if (__builtin_cpu_supports("avx512f")) return peak_avx512(rounds);
  if (__builtin_cpu_supports("avx2")) return peak_avx2(rounds);
  return peak_sse2(rounds);
}
#else
double peak_loop(int64_t rounds) {
  float x[64];
  std::fill(x, x + 64, 1.0f);
  for (int64_t r = 0; r < rounds; ++r) {
    for (float& v : x) v = v * 0.999f + 0.001f;
    benchmark::DoNotOptimize(x);
  }
  return 128.0 * static_cast<double>(rounds);
}
#endif

/// Float operations per second of one thread, the best of many short runs.
double peak_flops() {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int i = 0; i < 200; ++i) {
    const auto begin = Clock::now();
    const double flops = peak_loop(20000);
    const std::chrono::duration<double> time = Clock::now() - begin;
    best = std::max(best, flops / time.count());
  }
  return best;
}

double peak(int threads) {
  static const double one = peak_flops();
  return one * threads;
}

void report(benchmark::State& state, double flops, int threads,
            double per_flop = 1) {
  using benchmark::Counter;
  state.counters["GFLOP/s"] =
      Counter(flops * 1e-9, Counter::kIsIterationInvariantRate);
  state.counters["peak%"] = Counter(100 * flops * per_flop / peak(threads),
                                    Counter::kIsIterationInvariantRate);
}

/// Arguments: size, threads, whether B is transposed, whether it is packed.
template <class T>
void square(benchmark::State& state) {
  const int64_t n = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  const bool transposed = state.range(2) == 1, packed = state.range(2) == 2;
  hotaru::set_num_threads(threads);
  std::vector<T> a(n * n, T(1)), b(n * n, T(1)), c(n * n);
  const MatrixRef<T> ra{a.data(), n, 1};
  MatrixRef<T> rb{b.data(), n, 1};
  if (transposed) rb = rb.transposed();
  const hotaru::PackedMatrix<T> weights(n, n, rb);
  for (auto _ : state) {
    if (packed) {
      hotaru::gemm<T>(n, 1, ra, weights, 0, c.data(), n);
    } else {
      hotaru::gemm<T>(n, n, n, 1, ra, rb, 0, c.data(), n);
    }
    benchmark::DoNotOptimize(c.data());
  }
  report(state, 2.0 * n * n * n, threads, sizeof(T) / sizeof(float));
}

/// Arguments: m, n, k, layout as above: a layer of a network at small batch.
void layer(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  hotaru::set_num_threads(1);
  std::vector<float> a(m * k, 1), b(k * n, 1), c(m * n);
  const MatrixRef<float> ra{a.data(), k, 1};
  MatrixRef<float> rb{b.data(), n, 1};
  if (state.range(3) == 1) rb = {b.data(), 1, k};
  const hotaru::PackedMatrix<float> weights(k, n, rb);
  for (auto _ : state) {
    if (state.range(3) == 2) {
      hotaru::gemm<float>(m, 1, ra, weights, 0, c.data(), n);
    } else {
      hotaru::gemm<float>(m, n, k, 1, ra, rb, 0, c.data(), n);
    }
    benchmark::DoNotOptimize(c.data());
  }
  report(state, 2.0 * m * n * k, 1);
}

BENCHMARK_TEMPLATE(square, float)
    ->ArgsProduct({{64, 128, 256, 512, 1024}, {1, 2}, {0, 1, 2}})
    ->UseRealTime();
BENCHMARK_TEMPLATE(square, double)
    ->ArgsProduct({{64, 512}, {1}, {0}})
    ->UseRealTime();
BENCHMARK(layer)
    ->ArgsProduct({{1, 2, 4, 8}, {128, 1024}, {128, 1024}, {0, 1, 2}})
    ->UseRealTime();

}  // namespace
