// Matrix multiplication. "peak%" in the output is the share of the machine's
// peak of fused multiply-adds (peak.h), measured in turns with the products;
// "peak GFLOP/s" is that of one thread soon after.
#include <benchmark/benchmark.h>

#include "bench/cpp/peak.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/threads/parallel.h"

namespace {

using hotaru::MatrixRef;
using hotaru::Tensor;

/// Matrix of ones, in memory of its own that is aligned as that of all tensors.
template <class T>
Tensor matrix(int64_t rows, int64_t cols) {
  return hotaru::ones(hotaru::Dims{rows, cols}, hotaru::kDTypeOf<T>);
}

void report(benchmark::State& state, double flops, double peak_share) {
  using benchmark::Counter;
  state.counters["GFLOP/s"] =
      Counter(flops * 1e-9, Counter::kIsIterationInvariantRate);
  state.counters["peak%"] = 100 * peak_share;
  state.counters["peak GFLOP/s"] = 1e-9 * hotaru::bench::peak_flops(1, 0.02);
}

/// Arguments: size, threads, whether B is transposed, whether it is packed.
template <class T>
void square(benchmark::State& state) {
  const int64_t n = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  const bool transposed = state.range(2) == 1, packed = state.range(2) == 2;
  hotaru::set_num_threads(threads);
  const Tensor a = matrix<T>(n, n), b = matrix<T>(n, n), c = matrix<T>(n, n);
  const MatrixRef<T> ra{a.data<T>(), n, 1};
  MatrixRef<T> rb{b.data<T>(), n, 1};
  T* const to = c.data<T>();
  if (transposed) rb = rb.transposed();
  const hotaru::PackedMatrix<T> weights(n, n, rb);
  const auto product = [&] {
    if (packed)
      hotaru::gemm<T>(n, 1, ra, weights, 0, to, n);
    else
      hotaru::gemm<T>(n, n, n, 1, ra, rb, 0, to, n);
  };
  for (auto _ : state) product();
  const double flops = 2.0 * double(n) * double(n) * double(n);
  constexpr double kFloats = sizeof(T) / sizeof(float);
  report(state, flops,
         hotaru::bench::share_of_peak(product, flops * kFloats, threads));
}

/// Arguments: m, n, k, layout as above: a layer of a network at small batch.
void layer(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  hotaru::set_num_threads(1);
  const Tensor a = matrix<float>(m, k), b = matrix<float>(k, n),
               c = matrix<float>(m, n);
  const MatrixRef<float> ra{a.data<float>(), k, 1};
  MatrixRef<float> rb{b.data<float>(), n, 1};
  if (state.range(3) == 1) rb = {b.data<float>(), 1, k};
  float* const to = c.data<float>();
  const hotaru::PackedMatrix<float> weights(k, n, rb);
  const auto product = [&] {
    if (state.range(3) == 2)
      hotaru::gemm<float>(m, 1, ra, weights, 0, to, n);
    else
      hotaru::gemm<float>(m, n, k, 1, ra, rb, 0, to, n);
  };
  for (auto _ : state) product();
  const double flops = 2.0 * double(m) * double(n) * double(k);
  report(state, flops, hotaru::bench::share_of_peak(product, flops, 1));
}

BENCHMARK_TEMPLATE(square, float)
    ->ArgsProduct({{64, 128, 256, 512, 1024}, {1, 2}, {0, 1, 2}})
    ->UseRealTime();
BENCHMARK_TEMPLATE(square, double)
    ->ArgsProduct({{64, 512}, {1}, {0}})
    ->UseRealTime();
BENCHMARK(layer)
    ->ArgsProduct({{1, 2, 4, 8}, {128, 1024}, {128, 1024}, {0, 1, 2}})
    // ResNet-18's convolutions of 112 x 112 pixels as products of patches
    ->Args({784, 64, 576, 2})
    ->Args({196, 128, 1152, 2})
    ->Args({49, 256, 2304, 2})
    ->Args({16, 512, 4608, 2})
    ->Args({16, 1024, 1024, 2})
    ->Args({32, 1024, 1024, 2})
    ->Args({64, 1024, 1024, 2})
    ->Args({64, 512, 512, 2})
    ->UseRealTime();

}  // namespace
