// A TorchScript model from C++: HOTARU_SILERO names silero_vad.jit. And what a
// fork with its wait costs.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/program/unit.h"

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

// One call that forks n times and waits for all, per fork.
void forks(benchmark::State& state) {
  auto unit = script::CompilationUnit::create();
  unit->define(std::make_unique<script::Source>(
                   "forks.py",
                   "def square(x: int) -> int:\n"
                   "  return x * x\n"
                   "def many(n: int) -> int:\n"
                   "  futures = annotate(List[Future[int]], [])\n"
                   "  for i in range(n):\n"
                   "    futures.append(torch.jit.fork(__torch__.square, i))\n"
                   "  total = 0\n"
                   "  for f in futures:\n"
                   "    total += torch.jit.wait(f)\n"
                   "  return total\n"),
               "__torch__");
  script::Function& many = *unit->find_function("__torch__.many");
  for (auto _ : state) benchmark::DoNotOptimize(many({Value(state.range(0))}));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(forks)->Arg(1)->Arg(1000)->UseRealTime();

}  // namespace
}  // namespace hotaru
