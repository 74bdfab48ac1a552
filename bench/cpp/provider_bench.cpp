// Costs of a call of ONNX Runtime by way of hotaru, beside its own C API on
// values that were made once. HOTARU_ONNXRUNTIME names the library;
// --benchmark_enable_random_interleaving=true takes turns.
#include <benchmark/benchmark.h>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/error.h"
#include "hotaru/graph/graph.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/provider/compile_onnx.h"
#include "hotaru/provider/ort/environment.h"
#include "tests/cpp/provider/onnx_bytes.h"

namespace hotaru {
namespace {

using namespace provider::ort;  // NOLINT(google-build-using-namespace)

const std::vector<int64_t> kWidths = {128, 128, 128, 10};
const int64_t kInputSizes[] = {1, 128}, kOutputSizes[] = {1, 10};

Ref<provider::Executable> compiled(benchmark::State& state) {
  try {
    return provider::compile_onnx(onnx_bytes::mlp(kWidths), "mlp");
  } catch (const Error& error) {
    state.SkipWithError(error.what());
    return nullptr;
  }
}

void mlp_c_api(benchmark::State& state) {
  if (!compiled(state)) return;
  const Library& ort = library();
  const Environment environment(0);
  const std::string what = "bench";
  Owned<OrtSessionOptions> options(ort.api.ReleaseSessionOptions);
  ort.check(ort.api.CreateSessionOptions(options.out()), what);
  ort.check(ort.api.DisablePerSessionThreads(options.get()), what);
  const auto bytes = onnx_bytes::mlp(kWidths);
  Owned<OrtSession> session(ort.api.ReleaseSession);
  ort.check(ort.api.CreateSessionFromArray(environment.get(), bytes.data(),
                                           bytes.size(), options.get(),
                                           session.out()),
            what);
  OrtMemoryInfo* memory = nullptr;
  ort.check(ort.api.CreateCpuMemoryInfo(0, 0, &memory), what);
  std::vector<float> x(128, 1), y(10);
  OrtValue* values[2] = {};
  const auto make = [&](std::vector<float>& data, const int64_t* sizes,
                        OrtValue** out) {
    ort.check(ort.api.CreateTensorWithDataAsOrtValue(
                  memory, data.data(), data.size() * sizeof(float), sizes, 2,
                  onnx_bytes::kFloat, out),
              what);
  };
  make(x, kInputSizes, &values[0]);
  make(y, kOutputSizes, &values[1]);
  const char *input = "x", *output = "y";
  for (auto _ : state)
    ort.check(ort.api.Run(session.get(), nullptr, &input, &values[0], 1,
                          &output, 1, &values[1]),
              what);
  for (OrtValue* value : values) ort.api.ReleaseValue(value);
}
BENCHMARK(mlp_c_api);

void mlp_executable(benchmark::State& state) {
  const auto program = compiled(state);
  if (!program) return;
  const autograd::NoGrad no_grad;
  const Tensor x = ones(IntSpan(kInputSizes));
  for (auto _ : state) benchmark::DoNotOptimize((*program)(std::span(&x, 1)));
}
BENCHMARK(mlp_executable);

// The same call as the only one of a captured graph.
void mlp_replay(benchmark::State& state) {
  const auto program = compiled(state);
  if (!program) return;
  const autograd::NoGrad no_grad;
  const Tensor x = ones(IntSpan(kInputSizes));
  const auto graph = make_ref<graph::Graph>();
  const Stream stream = Stream::queued();
  graph->capture_begin(stream);
  std::vector<Tensor> outputs;
  {
    const StreamGuard guard(stream);
    outputs = (*program)(std::span(&x, 1));
  }
  graph->capture_end();
  for (auto _ : state) graph->replay();
}
BENCHMARK(mlp_replay);

}  // namespace
}  // namespace hotaru
