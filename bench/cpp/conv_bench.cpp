// Convolutions of batch 1: layers of speech models and of small and large
// image networks.
#include <benchmark/benchmark.h>

#include <vector>

#include "hotaru/backend/cpu/conv_kernel.h"
#include "hotaru/runtime/parallel.h"

namespace {

using hotaru::ConvGeometry;

/// Arguments: in channels, out channels, groups, height, width, kernel height,
/// kernel width, stride, padding, packed.
void conv(benchmark::State& state) {
  hotaru::set_num_threads(1);
  ConvGeometry g;
  g.in_channels = state.range(0);
  g.out_channels = state.range(1);
  g.groups = state.range(2);
  g.in = {1, state.range(3), state.range(4)};
  g.kernel = {1, state.range(5), state.range(6)};
  g.stride = {1, state.range(5) == 1 ? 1 : state.range(7), state.range(7)};
  g.padding = {0, state.range(5) == 1 ? 0 : state.range(8), state.range(8)};
  std::vector<float> x(g.in_channels * g.in[1] * g.in[2], 1);
  std::vector<float> w(g.out_channels * g.patch_size(), 1);
  std::vector<float> bias(g.out_channels, 1);
  std::vector<float> y(g.out_channels * g.out_positions());
  const hotaru::PackedConvWeight<float> packed(g, w.data());
  for (auto _ : state) {
    hotaru::conv_forward(g, x.data(), w.data(), bias.data(),
                         hotaru::Activation::kNone, y.data(),
                         state.range(9) ? &packed : nullptr);
    benchmark::DoNotOptimize(y.data());
  }
  const double flops =
      2.0 * g.out_channels * g.patch_size() * g.out_positions();
  state.counters["GFLOP/s"] = benchmark::Counter(
      flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(conv)
    ->Args({1, 258, 1, 1, 640, 1, 256, 128, 0, 0})
    ->Args({1, 258, 1, 1, 640, 1, 256, 128, 0, 1})
    ->Args({129, 128, 1, 1, 4, 1, 3, 1, 1, 0})
    ->Args({129, 128, 1, 1, 4, 1, 3, 1, 1, 1})
    ->Args({1, 8, 1, 28, 28, 3, 3, 1, 1, 0})
    ->Args({8, 16, 1, 14, 14, 3, 3, 1, 1, 0})
    ->Args({64, 64, 1, 56, 56, 3, 3, 1, 1, 0})
    ->Args({256, 256, 1, 14, 14, 3, 3, 1, 1, 0})
    ->Args({3, 64, 1, 224, 224, 7, 7, 2, 3, 0})
    ->Args({96, 96, 96, 56, 56, 3, 3, 1, 1, 0});

}  // namespace
