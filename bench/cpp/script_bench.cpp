// A TorchScript model from C++: HOTARU_SILERO names silero_vad.jit.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/ops/factory.h"
#include "hotaru/script/archive.h"

namespace hotaru {
namespace {

void silero_chunk(benchmark::State& state) {
  const char* path = std::getenv("HOTARU_SILERO");
  if (!path) {
    state.SkipWithError("HOTARU_SILERO names no model");
    return;
  }
  const autograd::NoGrad no_grad;
  const script::Module model = script::load(path);
  model.eval();
  const Tensor chunk = zeros(Dims{1, 512});
  for (auto _ : state)
    benchmark::DoNotOptimize(model({chunk, Value(int64_t{16000})}));
}
BENCHMARK(silero_chunk);

}  // namespace
}  // namespace hotaru
