// Convolutions of batch 1: layers of speech models and of small and large
// image networks, on plain and on blocked pictures.
#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "bench/cpp/peak.h"
#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

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

using hotaru::Dims;
using hotaru::Tensor;

enum Kind { kDense, kPlain, kDepthwise };

/// Arguments: kind, in channels, out channels, size, kernel, stride, threads.
/// GFLOP/s count products with padding, too; "peak%" is their share of the
/// machine's peak, measured in turns.
void blocked(benchmark::State& state) {
  const auto kind = Kind(state.range(0));
  const int64_t c = state.range(1), o = state.range(2), size = state.range(3);
  const int64_t kernel = state.range(4), stride = state.range(5);
  hotaru::set_num_threads(int(state.range(6)));
  hotaru::BlockedConvAttributes a;
  const int64_t groups = kind == kDepthwise ? c : 1;
  a.conv = {{stride, stride}, {kernel / 2, kernel / 2}, {1, 1}, groups};
  a.kernel = {kernel, kernel};
  a.in_channels = c;
  a.out_channels = o;
  a.ending = hotaru::ConvEnding::relu();
  a.plain_input = kind == kPlain;
  a.depthwise = kind == kDepthwise;
  const hotaru::BlockedWeightAttributes weight{a.depthwise, a.plain_input, 0};
  const Dims w{o, c / groups, kernel, kernel};
  const int64_t out = (size + 2 * (kernel / 2) - kernel) / stride + 1;
  const auto picture = [](int64_t channels, int64_t side) {
    return Dims{1, hotaru::channel_blocks(channels), side, side,
                hotaru::kChannelBlock};
  };
  const Tensor x =
      hotaru::ones(a.plain_input ? Dims{1, c, size, size} : picture(c, size));
  const Tensor packed =
      hotaru::ones(Dims{hotaru::blocked_weight_size(w, weight)});
  const Tensor shift = hotaru::ones(Dims{picture(o, 1)[1] * 16});
  const Tensor y = hotaru::ones(picture(o, out)), none;
  const std::array<hotaru::Operand, 5> operands{
      hotaru::write(y), hotaru::read(x), hotaru::read(packed),
      hotaru::read(shift), hotaru::read(none)};
  const hotaru::Kernel& k = hotaru::kernel("blocked_conv");
  const hotaru::KernelCall call(k, operands, a);
  const auto prepared = k.prepare(hotaru::DeviceType::kCPU, call);
  for (auto _ : state) prepared->run();
  const double flops =
      2.0 * double(o * c / groups * kernel * kernel * out * out);
  state.counters["GFLOP/s"] = benchmark::Counter(
      flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak%"] =
      100 * hotaru::bench::share_of_peak([&] { prepared->run(); }, flops,
                                         int(state.range(6)));
}

void layers(benchmark::internal::Benchmark* b) {
  for (const int64_t threads : {1, 2})
    for (const std::array<int64_t, 6>& layer : {
             // ResNet-18 for 112 x 112
             std::array<int64_t, 6>{kPlain, 3, 64, 112, 7, 2},
             {kDense, 64, 64, 28, 3, 1},
             {kDense, 64, 128, 28, 3, 2},
             {kDense, 64, 128, 28, 1, 2},
             {kDense, 128, 128, 14, 3, 1},
             {kDense, 128, 256, 14, 3, 2},
             {kDense, 128, 256, 14, 1, 2},
             {kDense, 256, 256, 7, 3, 1},
             {kDense, 256, 512, 7, 3, 2},
             {kDense, 256, 512, 7, 1, 2},
             {kDense, 512, 512, 4, 3, 1},
             // a small network
             {kPlain, 1, 32, 28, 3, 1},
             {kDense, 32, 64, 14, 3, 1},
             // MobileNet-like for 96 x 96
             {kPlain, 3, 16, 96, 3, 2},
             {kDense, 16, 32, 48, 1, 1},
             {kDense, 32, 64, 24, 1, 1},
             {kDense, 64, 64, 24, 1, 1},
             {kDense, 64, 128, 12, 1, 1},
             {kDense, 128, 128, 12, 1, 1},
             {kDense, 128, 256, 6, 1, 1},
             {kDense, 256, 256, 6, 1, 1},
             {kDepthwise, 16, 16, 48, 3, 1},
             {kDepthwise, 32, 32, 48, 3, 2},
             {kDepthwise, 64, 64, 24, 3, 1},
             {kDepthwise, 64, 64, 24, 3, 2},
             {kDepthwise, 128, 128, 12, 3, 1},
             {kDepthwise, 128, 128, 12, 3, 2},
             {kDepthwise, 256, 256, 6, 3, 1},
         }) {
      std::vector<int64_t> all(layer.begin(), layer.end());
      all.push_back(threads);
      b->Args(all);
    }
}
BENCHMARK(blocked)->Apply(layers);

}  // namespace
