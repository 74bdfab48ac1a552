// Costs of replays of captured elementwise calls: per call, and in bytes.
#include <benchmark/benchmark.h>

#include "hotaru/graph/graph.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"

namespace hotaru {
namespace {

template <class Body>
Ref<graph::Graph> captured(const Body& body, bool fuse) {
  graph::Options options;
  if (!fuse) options.without.push_back("fuse_pointwise");
  auto out = make_ref<graph::Graph>(options);
  const Stream stream = Stream::queued();
  out->capture_begin(stream);
  {
    const StreamGuard guard(stream);
    body();
  }
  out->capture_end();
  return out;
}

/// A hundred additions of four floats, each of which needs the one before.
/// Argument: whether they are fused.
void hundred_adds(benchmark::State& state) {
  const Tensor x = ones(Dims{4});
  Tensor y;
  const auto graph = captured(
      [&] {
        y = x;
        for (int i = 0; i < 100; ++i) y = add(y, x);
      },
      state.range(0) != 0);
  for (auto _ : state) graph->replay();
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(hundred_adds)->Arg(0)->Arg(1);

/// act(x * w + b) + residual; w and b are rows. Arguments: bytes of x, whether
/// it is fused.
template <class F>
void chain(benchmark::State& state, const F& act) {
  const int64_t columns = 256, rows = state.range(0) / 4 / columns;
  const Tensor x = ones(Dims{rows, columns}), residual = ones(x.sizes());
  const Tensor w = ones(Dims{columns}), b = ones(Dims{columns});
  Tensor y;
  const auto graph = captured(
      [&] { y = add(act(add(mul(x, w), b)), residual); }, state.range(1) != 0);
  for (auto _ : state) graph->replay();
  state.SetBytesProcessed(state.iterations() * state.range(0) * 3);
}
void relu_chain(benchmark::State& state) {
  chain(state, [](const Tensor& t) { return relu(t); });
}
void gelu_chain(benchmark::State& state) {
  chain(state, [](const Tensor& t) { return gelu(t); });
}
BENCHMARK(relu_chain)->ArgsProduct({{4 << 10, 256 << 10, 16 << 20}, {0, 1}});
BENCHMARK(gelu_chain)->ArgsProduct({{4 << 10, 256 << 10, 16 << 20}, {0, 1}});

/// mean((x - y)^2) of rows of 256. Arguments: bytes of x, whether it is fused.
void row_errors(benchmark::State& state) {
  const int64_t columns = 256, rows = state.range(0) / 4 / columns;
  const Tensor x = ones(Dims{rows, columns}), y = ones(x.sizes());
  Tensor out;
  const auto graph = captured(
      [&] {
        const Tensor d = sub(x, y);
        out = mean(mul(d, d), Dims{-1});
      },
      state.range(1) != 0);
  for (auto _ : state) graph->replay();
  state.SetBytesProcessed(state.iterations() * state.range(0) * 2);
}
BENCHMARK(row_errors)->ArgsProduct({{4 << 10, 256 << 10, 16 << 20}, {0, 1}});

}  // namespace
}  // namespace hotaru
