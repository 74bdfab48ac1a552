#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>

#include "commands.h"
#include "hotaru/runtime/threads/parallel.h"
#include "json.h"
#include "model.h"

namespace hotaru::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchOptions : ModelOptions {
  double seconds = 2;
};

constexpr size_t kBenchWarmUpCalls = 10;
constexpr size_t kFewestCalls = 20;

/// The value that a share of the sorted samples does not exceed (nearest
/// rank).
double percentile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * double(sorted.size()));
  return sorted[size_t(std::max(rank, 1.0)) - 1];
}

/// Seconds of each call, sorted.
std::vector<double> measure(Model& model, double seconds) {
  for (size_t i = 0; i < kBenchWarmUpCalls; ++i) model.call();
  std::vector<double> samples;
  const auto start = Clock::now();
  auto before = start;
  while (samples.size() < kFewestCalls ||
         before - start < std::chrono::duration<double>(seconds)) {
    model.call();
    model.synchronize();
    const auto after = Clock::now();
    samples.push_back(std::chrono::duration<double>(after - before).count());
    before = after;
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

void bench(const BenchOptions& options) {
  Model model(options);
  const std::vector<double> samples = measure(model, options.seconds);
  const double total = std::accumulate(samples.begin(), samples.end(), 0.0);
  const double rate = double(samples.size()) / total;
  const std::pair<const char*, double> times[] = {
      {"min", samples.front()},
      {"p50", percentile(samples, 0.5)},
      {"p90", percentile(samples, 0.9)},
      {"p99", percentile(samples, 0.99)},
      {"p99.9", percentile(samples, 0.999)},
      {"max", samples.back()}};
  if (options.json) {
    Json report = {{"model", options.path},
                   {"threads", get_num_threads()},
                   {"calls", samples.size()},
                   {"calls_per_second", rate}};
    for (auto [name, time] : times) report["seconds"][name] = time;
    std::cout << report.dump() << '\n';
    return;
  }
  std::printf("%zu calls, %d thread(s), %.0f calls a second\n", samples.size(),
              get_num_threads(), rate);
  for (auto [name, time] : times)
    std::printf("  %-6s %10.1f µs\n", name, time * 1e6);
}

}  // namespace

void add_bench(Program& program) {
  const Verb verb = program.verb(
      "bench", "Calls a model again and again: latency and throughput");
  auto options = std::make_shared<BenchOptions>();
  options->add_to(verb);
  verb.option("--seconds", options->seconds, "How long, at least")
      .positive()
      .shows_default();
  verb.action([options] { bench(*options); });
}

}  // namespace hotaru::cli
