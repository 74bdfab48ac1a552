// Steps and sequences of recurrent layers, one thread.
#include <benchmark/benchmark.h>

#include <vector>

#include "hotaru/backend/cpu/rnn/rnn_kernel.h"
#include "hotaru/runtime/threads/parallel.h"

namespace {

using hotaru::RnnKind;

/// Arguments: kind, steps, batch, input size, hidden size, packed.
void rnn(benchmark::State& state) {
  hotaru::set_num_threads(1);
  const hotaru::RnnSizes s{static_cast<RnnKind>(state.range(0)), state.range(1),
                           state.range(2), state.range(3), state.range(4)};
  std::vector<float> x(s.steps * s.batch * s.input_size, 0.1f);
  std::vector<float> w_ih(s.gate_size() * s.input_size, 0.01f);
  std::vector<float> w_hh(s.gate_size() * s.hidden_size, 0.01f);
  std::vector<float> bias(s.gate_size(), 0.1f);
  std::vector<float> h(s.batch * s.hidden_size), c(h);
  std::vector<float> y(s.steps * h.size());
  const hotaru::PackedMatrix<float> input(s.input_size, s.gate_size(),
                                          {w_ih.data(), 1, s.input_size});
  const hotaru::PackedMatrix<float> hidden(s.hidden_size, s.gate_size(),
                                           {w_hh.data(), 1, s.hidden_size});
  const bool packed = state.range(5) != 0;
  const hotaru::RnnWeights<float> weights{
      {packed ? input.ref().data : w_ih.data(), packed},
      {packed ? hidden.ref().data : w_hh.data(), packed},
      bias.data(),
      bias.data()};
  for (auto _ : state) {
    hotaru::rnn_layer<float>(s, weights,
                             {x.data(), h.data(), c.data(), h.data(), c.data(),
                              y.data(), s.hidden_size});
    benchmark::DoNotOptimize(h.data());
  }
}

BENCHMARK(rnn)
    ->Args({int(RnnKind::kLstm), 1, 1, 128, 128, 0})
    ->Args({int(RnnKind::kLstm), 1, 1, 128, 128, 1})
    ->Args({int(RnnKind::kGru), 1, 1, 128, 128, 1})
    ->Args({int(RnnKind::kLstm), 100, 1, 128, 128, 0})
    ->Args({int(RnnKind::kLstm), 100, 16, 128, 256, 0});

}  // namespace
