// Costs of a queued stream: the caller's time for one call, immediate, with a
// stream alive elsewhere, and queued; and the whole way there and back.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {
namespace {

Tensor ones() {
  return full(Dims{4}, 1.0, DType::kFloat32);
}

/// Waits for the Completion that its attribute points to.
const Kernel& gate_kernel() {
  static const Kernel& gate = [&]() -> Kernel& {
    Kernel& made = kernel("bench_gate");
    made.set(DeviceType::kCPU, [](const KernelCall& call) {
      call.attributes<Completion*>()->wait();
    });
    return made;
  }();
  return gate;
}

// A word there and back between two threads. On a virtual machine it may take
// 0.1 or 0.5 us, by where the cores lie, and what follows goes with it.
void a_word_there_and_back(benchmark::State& state) {
  std::atomic<int64_t> word{0};
  std::jthread other([&word](const std::stop_token& stop) {
    while (!stop.stop_requested())
      if (const int64_t seen = word.load(); seen % 2 == 1) word = seen + 1;
  });
  for (auto _ : state) {
    const int64_t next = word.load() + 1;
    word = next;
    while (word.load() == next) {
    }
  }
}
BENCHMARK(a_word_there_and_back)->UseRealTime();

void add_immediate(benchmark::State& state) {
  const Tensor a = ones(), b = ones();
  for (auto _ : state) benchmark::DoNotOptimize(add(a, b));
}
BENCHMARK(add_immediate);

void add_immediate_beside_a_stream(benchmark::State& state) {
  const Stream stream = Stream::queued();
  const Tensor a = ones(), b = ones();
  for (auto _ : state) benchmark::DoNotOptimize(add(a, b));
}
BENCHMARK(add_immediate_beside_a_stream);

// The caller's share: batches below the queue's limit, the waiting left out.
// Each call takes the next of `count` pairs of operands: with one pair the
// caller and the worker count references in the same memory all the time.
void add_queued(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  constexpr int kBatch = 1000;
  const size_t count = size_t(state.range(0));
  std::vector<Tensor> a, b;
  for (size_t i = 0; i < count; ++i) {
    a.push_back(ones());
    b.push_back(ones());
  }
  const Stream stream = Stream::queued();
  const StreamGuard guard(stream);
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kBatch; ++i)
      benchmark::DoNotOptimize(add(a[i % count], b[i % count]));
    const std::chrono::duration<double> took = Clock::now() - start;
    state.SetIterationTime(took.count() / kBatch);
    stream.synchronize();
  }
}
BENCHMARK(add_queued)->Arg(1)->Arg(64)->UseManualTime()->Iterations(2000);

// The same while nothing runs the calls: the caller's instructions alone.
void add_queued_behind_a_gate(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  constexpr int kBatch = 1000;
  const Stream stream = Stream::queued(), gate = Stream::queued();
  const Tensor a = ones(), b = ones();
  for (auto _ : state) {
    Completion open;
    gate.enqueue({gate_kernel(), {}, &open});
    stream.wait(gate);
    const StreamGuard guard(stream);
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kBatch; ++i) benchmark::DoNotOptimize(add(a, b));
    const std::chrono::duration<double> took = Clock::now() - start;
    state.SetIterationTime(took.count() / kBatch);
    open.set();
    stream.synchronize();
  }
}
BENCHMARK(add_queued_behind_a_gate)->UseManualTime()->Iterations(2000);

void add_queued_and_synchronize(benchmark::State& state) {
  const Stream stream = Stream::queued();
  const StreamGuard guard(stream);
  const Tensor a = ones(), b = ones();
  for (auto _ : state) {
    benchmark::DoNotOptimize(add(a, b));
    stream.synchronize();
  }
}
BENCHMARK(add_queued_and_synchronize)->UseRealTime();

}  // namespace
}  // namespace hotaru
