// Costs of an operator beyond its arithmetic: small tensors from C++.
#include <benchmark/benchmark.h>

#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

void add_four_floats(benchmark::State& state) {
  const Tensor a = ones(Dims{4}), b = ones(Dims{4});
  for (auto _ : state) benchmark::DoNotOptimize(add(a, b));
}
BENCHMARK(add_four_floats);

void add_in_place(benchmark::State& state) {
  const Tensor a = ones(Dims{4}), b = ones(Dims{4});
  for (auto _ : state) benchmark::DoNotOptimize(add_(a, b));
}
BENCHMARK(add_in_place);

void add_number(benchmark::State& state) {
  const Tensor a = ones(Dims{4});
  for (auto _ : state) benchmark::DoNotOptimize(add(a, Scalar(1)));
}
BENCHMARK(add_number);

void view_two_by_two(benchmark::State& state) {
  const Tensor a = ones(Dims{4});
  const Dims shape{2, 2};
  for (auto _ : state) benchmark::DoNotOptimize(view(a, shape));
}
BENCHMARK(view_two_by_two);

void exp_four_floats(benchmark::State& state) {
  const Tensor a = ones(Dims{4});
  for (auto _ : state) benchmark::DoNotOptimize(exp(a));
}
BENCHMARK(exp_four_floats);

}  // namespace
}  // namespace hotaru
